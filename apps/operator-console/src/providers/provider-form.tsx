import type { ProviderDialect, ProviderInput } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { setAt, valueAt } from '../edit/document-paths.ts';
import { DocumentForm, type FieldGroup } from '../edit/document-form.tsx';
import type { FormField } from '../edit/form-fields.ts';

const DIALECTS = [
  { value: 'openai', word: 'OpenAI-compatible' },
  { value: 'anthropic', word: 'Anthropic' },
  { value: 'azure-openai', word: 'Azure OpenAI' },
  { value: 'bedrock', word: 'AWS Bedrock' },
  { value: 'gemini', word: 'Google Gemini' },
  { value: 'ollama', word: 'Ollama' },
] as const satisfies readonly { value: ProviderDialect; word: string }[];

/** Where the key of an account is. */
const ENV = { value: 'env', word: 'in a variable' };
const FILE = { value: 'file', word: 'in a file' };
const ENTERED = { value: 'entered', word: 'typed here' };
const STORED = { value: 'encrypted', word: 'kept encrypted here' };
const NONE = { value: undefined, word: 'not needed' };

const ACCOUNT = { slots: 20, secret: { kind: 'env' } };

export interface ProviderFormProps {
  readonly api: OperatorApi;
  /** The provider that is changed; a new one when absent. */
  readonly row: Row<ProviderInput> | undefined;
  readonly onDone: (id: string) => void;
  readonly onCancel: () => void;
}

/**
 * Makes a provider with its accounts, or changes one. A secret is said where it is, or typed once and never shown
 * again.
 */
export function ProviderForm({ api, row, onDone, onCancel }: ProviderFormProps) {
  return (
    <DocumentForm<ProviderInput>
      label={row === undefined ? 'A new provider' : `Provider ${row.id}`}
      row={row}
      start={{ dialect: 'openai', credentials: [{ id: 'main', ...ACCOUNT }] }}
      groups={(document, isNew) => [
        service(isNew),
        ...accounts(document).map((_account, index) => accountGroup(document, index)),
      ]}
      shownOf={withoutTyped}
      save={(document, version) => api.tables.put('providers', row?.id ?? idOf(document), document, version)}
      reload={() => api.tables.get('providers', row?.id ?? '')}
      onDone={(document) => onDone(row?.id ?? idOf(document))}
      onCancel={onCancel}
      verb={row === undefined ? 'Add the provider' : 'Save'}
      note={
        row === undefined
          ? 'It serves nobody until a model names it and a chain has it.'
          : 'In force on every gateway in under a second.'
      }
      taken={(document) => `There is a provider “${idOf(document)}” already. Choose another id, or change that one.`}
    />
  );
}

const idOf = (document: unknown): string => String(valueAt(document, ['id']) ?? '');

function accounts(document: unknown): readonly unknown[] {
  const found = valueAt(document, ['credentials']);
  return Array.isArray(found) ? found : [];
}

function service(isNew: boolean): FieldGroup {
  return {
    legend: 'Service',
    fields: [
      ...(isNew
        ? [{ label: 'Id', path: ['id'], required: true, hint: 'Chains and models name it so; it never changes.' }]
        : []),
      { label: 'Name', path: ['displayName'], required: true },
      { label: 'Speaks', path: ['dialect'], required: true, choices: DIALECTS },
      {
        label: 'Address',
        path: ['baseUrl'],
        required: true,
        placeholder: 'https://api.example.com/v1',
        hint: 'With /v1 for OpenAI, without it for Anthropic.',
      },
      { label: 'Region', path: ['region'], placeholder: 'local', hint: 'What data rules of a policy compare.' },
      {
        label: 'Calls',
        path: ['enabled'],
        choices: [
          { value: isNew ? undefined : true, word: 'go to it' },
          { value: false, word: 'do not go to it: switched off' },
        ],
      },
    ],
  };
}

function accountGroup(document: unknown, index: number): FieldGroup {
  const at = ['credentials', String(index)];
  const all = accounts(document);
  const id = String(valueAt(document, [...at, 'id']) ?? '');
  return {
    legend: `Account ${id === '' ? index + 1 : id}`,
    fields: [
      { label: 'Account', path: [...at, 'id'], required: true },
      ...secretFields(document, [...at, 'secret']),
      { label: 'Calls at once', path: [...at, 'slots'], scale: 1, required: true },
      { label: 'Requests a minute', path: [...at, 'requestsPerMinute'], scale: 1, placeholder: 'no limit' },
      { label: 'Tokens a minute', path: [...at, 'tokensPerMinute'], scale: 1, placeholder: 'no limit' },
      {
        label: 'Share of the load',
        path: [...at, 'weight'],
        scale: 1,
        placeholder: '1',
        hint: 'Against the other accounts.',
      },
    ],
    foot: (whole, change) => (
      <div className="inline whole-row">
        {index === all.length - 1 && (
          <button
            type="button"
            onClick={() => change(setAt(whole, ['credentials'], [...accounts(whole), { ...ACCOUNT }]))}
          >
            Add an account
          </button>
        )}
        <button
          type="button"
          className="quiet"
          disabled={all.length === 1}
          title={all.length === 1 ? 'A provider needs one account at least.' : undefined}
          onClick={() =>
            change(
              setAt(
                whole,
                ['credentials'],
                accounts(whole).filter((_one, place) => place !== index),
              ),
            )
          }
        >
          Remove this account
        </button>
      </div>
    ),
  };
}

function secretFields(document: unknown, at: readonly string[]): readonly FormField[] {
  const kind = valueAt(document, [...at, 'kind']);
  const where: FormField = {
    label: 'Its key is',
    path: [...at, 'kind'],
    tells: at,
    choices: [ENV, FILE, ENTERED, ...(kind === 'encrypted' ? [STORED] : []), NONE],
    write: (whole, value) => setAt(whole, at, value === undefined ? undefined : { kind: value }),
  };
  switch (kind) {
    case 'env':
      return [
        where,
        {
          label: 'Variable',
          path: [...at, 'name'],
          required: true,
          placeholder: 'SLUICE_SECRET_…',
          hint: "Of the gateways' environment; begins with SLUICE_SECRET_.",
        },
      ];
    case 'file':
      return [where, { label: 'File', path: [...at, 'name'], required: true, hint: 'Its name in the secrets folder.' }];
    case 'entered':
      return [
        where,
        {
          label: 'Key',
          path: [...at, 'value'],
          required: true,
          secret: true,
          hint: 'Stored encrypted, never shown again.',
        },
      ];
    default:
      return [where];
  }
}

/** Without what was typed as a secret: a conflict is shown, perhaps to somebody beside. */
function withoutTyped(document: unknown): unknown {
  return accounts(document).reduce<unknown>(
    (whole, account, index) =>
      valueAt(account, ['secret', 'kind']) === 'entered'
        ? setAt(whole, ['credentials', String(index), 'secret', 'value'], undefined)
        : whole,
    document,
  );
}
