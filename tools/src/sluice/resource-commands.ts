import { stringify } from 'yaml';
import { z } from 'zod';
import { CliError } from './cli-error.ts';
import type { Command, CommandContext } from './command.ts';
import { renderTable } from './render.ts';

const SINGULARS = [
  'tenant',
  'workspace',
  'plan',
  'provider',
  'model',
  'cell',
  'key',
  'user',
  'operator',
  'gateway',
  'kill-switch',
] as const;
const pluralOf = (singular: string): string => (singular.endsWith('ch') ? `${singular}es` : `${singular}s`);
/** What the API calls each kind, by its singular and its plural. */
export const KINDS: ReadonlyMap<string, string> = new Map(
  SINGULARS.flatMap((singular) => [
    [singular, pluralOf(singular)],
    [pluralOf(singular), pluralOf(singular)],
  ]),
);
const Page = z.object({
  rows: z.array(z.looseObject({ id: z.string(), version: z.int().optional(), value: z.looseObject({}).optional() })),
  next_cursor: z.string().nullable(),
});

function kindOf(word: string | undefined): string {
  const kind = word === undefined ? undefined : KINDS.get(word);
  if (kind === undefined) throw new CliError(`Which kind? One of ${SINGULARS.map(pluralOf).join(', ')}.`, 2);
  return kind;
}

/** Every row of a list, page by page. */
export async function listAll(
  { api }: Pick<CommandContext, 'api'>,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<z.infer<typeof Page>['rows']> {
  const rows: z.infer<typeof Page>['rows'] = [];
  let cursor: string | null = null;
  do {
    const given = Object.entries({ ...query, limit: '1000', ...(cursor === null ? {} : { cursor }) }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const page: z.infer<typeof Page> = Page.parse(
      (await api.send('GET', `${path}?${new URLSearchParams(given).toString()}`)).body,
    );
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** What is told of a row in a list: its short fields. */
function summary(value: object): string {
  return Object.entries(value)
    .filter(([, field]) => ['string', 'number', 'boolean'].includes(typeof field))
    .slice(0, 5)
    .map(([name, field]) => `${name}=${String(field)}`)
    .join(' ');
}

/** Reading what is configured. */
export const RESOURCE_COMMANDS: Readonly<Record<string, Command>> = {
  list: {
    args: ['<kind>'],
    options: ['workspace', 'tenant'],
    summary: 'tenants, workspaces, plans, providers, models, cells, keys, users, operators, gateways, kill-switches',
    run: async (context) => {
      const { words, flags, print } = context;
      const rows = await listAll(context, `/api/${kindOf(words[0])}`, {
        workspace: flags.workspace,
        tenant: flags.tenant,
      });
      if (flags.json) print(JSON.stringify(rows, null, 2));
      else
        for (const line of renderTable(
          ['ID', 'VERSION', ''],
          rows.map((row) => [row.id, String(row.version ?? row['config_version'] ?? ''), summary(row.value ?? row)]),
        ))
          print(line);
      return 0;
    },
  },
  get: {
    args: ['<kind>', '<id>'],
    options: [],
    summary: 'one of them, whole',
    run: async ({ api, words, flags, print }) => {
      const [word, id] = words;
      const kind = kindOf(word);
      if (id === undefined) throw new CliError(`Which of the ${kind}? Give its id.`, 2);
      const { body } = await api.send('GET', `/api/${kind}/${encodeURIComponent(id)}`);
      print(flags.json ? JSON.stringify(body, null, 2) : stringify(body, { lineWidth: 0 }).trimEnd());
      return 0;
    },
  },
};
