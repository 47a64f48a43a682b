import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { KillSwitch, OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { RowForm } from '../edit/row-form.tsx';
import { useRowEdit } from '../edit/use-row-edit.ts';

const SCOPES = ['provider', 'model', 'workspace', 'feature', 'all'] as const satisfies readonly KillSwitch['scope'][];

export interface KillSwitchFormProps {
  readonly api: OperatorApi;
  readonly picture: OperatorState;
  /** The switch that is changed; a new one when absent. */
  readonly row: Row<KillSwitch> | undefined;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Sets or changes one kill switch. A new one is named after what it stops, so that one thing has one switch. */
export function KillSwitchForm({ api, picture, row, onDone, onCancel }: KillSwitchFormProps) {
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models') });
  const targets = useId();
  const edit = useRowEdit<KillSwitch, Draft>({
    row,
    draftOf: (value) => ({
      scope: value?.scope ?? 'provider',
      target: value?.target ?? '',
      message: value?.message ?? '',
      retryAfterSeconds: String(value?.retryAfterSeconds ?? 60),
    }),
    valueOf: (draft) => valueOf(row?.id ?? idOf(draft), draft),
    save: (value, version) => api.tables.put('kill-switches', (value as KillSwitch).id, value, version),
    reload: () => api.tables.get('kill-switches', row?.id ?? ''),
    onSaved: onDone,
    taken: (draft) => `There is a switch “${idOf(draft)}” already. Close this and change that one.`,
  });
  const { draft, change } = edit;
  const known = {
    provider: picture.providers.map(({ provider }) => provider),
    model: (models.data ?? []).map((one) => one.id),
    workspace: picture.tenants.flatMap(({ workspaces }) => workspaces),
    feature: [],
    all: [],
  }[draft.scope];
  return (
    <RowForm
      label={row === undefined ? 'A new kill switch' : `Kill switch ${row.id}`}
      edit={edit}
      verb={row === undefined ? 'Switch it off now' : 'Save'}
      danger
      note="In force on every gateway in under a second, until it is cleared here."
      onCancel={onCancel}
    >
      <div className="limit-fields plain">
        <label>
          What is switched off
          <select
            value={draft.scope}
            autoFocus
            onChange={(event) => change({ ...draft, scope: event.target.value as KillSwitch['scope'], target: '' })}
          >
            {SCOPES.map((scope) => (
              <option key={scope} value={scope}>
                {scope === 'all' ? 'everything' : `one ${scope}`}
              </option>
            ))}
          </select>
        </label>
        {draft.scope !== 'all' && (
          <label>
            Which {draft.scope}
            <input
              value={draft.target}
              onChange={(event) => change({ ...draft, target: event.target.value })}
              list={targets}
              required
              spellCheck={false}
            />
            <datalist id={targets}>
              {known.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
        )}
        <label>
          Come back after, seconds
          <input
            value={draft.retryAfterSeconds}
            inputMode="numeric"
            required
            onChange={(event) => change({ ...draft, retryAfterSeconds: event.target.value })}
          />
        </label>
      </div>
      <label>
        Message to callers
        <input
          className="wide"
          value={draft.message}
          onChange={(event) => change({ ...draft, message: event.target.value })}
          required
          maxLength={500}
          placeholder="What they should know and when to come back"
        />
      </label>
    </RowForm>
  );
}

type Draft = {
  readonly scope: KillSwitch['scope'];
  readonly target: string;
  readonly message: string;
  readonly retryAfterSeconds: string;
};

/** The name of a new switch: what it stops. */
function idOf({ scope, target }: Draft): string {
  return scope === 'all'
    ? 'all'
    : `${scope}-${target
        .trim()
        .toLowerCase()
        .replace(/[^a-z0-9._-]+/g, '-')}`;
}

function valueOf(id: string, { scope, target, message, retryAfterSeconds }: Draft): unknown {
  const seconds = Number(retryAfterSeconds);
  return {
    id,
    scope,
    ...(scope === 'all' ? {} : { target: target.trim() }),
    message: message.trim(),
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : retryAfterSeconds,
  };
}
