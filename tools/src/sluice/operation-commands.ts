import { z } from 'zod';
import { CreateKeyResponse, DlqState, OperatorState, RedriveAnswer } from '@sluice/contracts';
import { CliError } from './cli-error.ts';
import type { Command, CommandContext } from './command.ts';
import { renderTable } from './render.ts';
import { listAll } from './resource-commands.ts';

function need(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new CliError(`${what} is missing.`, 2);
  return value;
}

function wholeNumber(value: string, what: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new CliError(`${what} must be a whole number, not ${value}.`, 2);
  return Number(value);
}

/** Runs the sub-command that the first word names. */
function branches(
  of: string,
  commands: Readonly<Record<string, (context: CommandContext) => Promise<number>>>,
): Command['run'] {
  return (context) => {
    const [word = '', ...words] = context.words;
    const run = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (run === undefined) throw new CliError(`${of} what? One of ${Object.keys(commands).join(', ')}.`, 2);
    return run({ ...context, words });
  };
}

const keyPath = (id: string | undefined): string => `/api/keys/${encodeURIComponent(need(id, 'The id of the key'))}`;
const queuePath = (queue: string | undefined): string => `/api/dlqs/${encodeURIComponent(need(queue, 'The queue'))}`;

/** A new key is the only thing on standard output, so that it can go straight into a secret store. */
function showKey({ flags, print, note }: CommandContext, body: unknown): number {
  const made = CreateKeyResponse.parse(body);
  if (flags.json) print(JSON.stringify(made, null, 2));
  else {
    note(`Key ${made.keyId} (${made.name}). It is shown this once:`);
    print(made.key);
  }
  return 0;
}

/** What an operator does in an incident. */
export const OPERATION_COMMANDS: Readonly<Record<string, Command>> = {
  keys: {
    alias: 'key',
    args: ['<list|create|rotate|revoke>', '[id]'],
    options: ['workspace', 'tenant', 'name', 'expires', 'grace'],
    summary: 'API keys; a new one is shown once',
    run: branches('keys', {
      list: async (context) => {
        const rows = await listAll(context, '/api/keys', {
          workspace: context.flags.workspace,
          tenant: context.flags.tenant,
        });
        if (context.flags.json) context.print(JSON.stringify(rows, null, 2));
        else
          for (const line of renderTable(
            ['ID', 'WORKSPACE', 'NAME', 'EXPIRES'],
            rows.map(({ id, value }) => [
              id,
              String(value?.['workspace']),
              String(value?.['name']),
              String(value?.['expiresAt'] ?? ''),
            ]),
          ))
            context.print(line);
        return 0;
      },
      create: async (context) => {
        const { api, flags } = context;
        const slug = need(flags.workspace, '--workspace');
        const { body } = await api.send('POST', `/api/workspaces/${encodeURIComponent(slug)}/keys`, {
          name: need(flags.name, '--name'),
          ...(flags.expires === undefined ? {} : { expiresAt: flags.expires }),
        });
        return showKey(context, body);
      },
      rotate: async (context) => {
        const { api, words, flags } = context;
        const { body } = await api.send(
          'POST',
          `${keyPath(words[0])}/rotate`,
          flags.grace === undefined ? {} : { graceSeconds: wholeNumber(flags.grace, '--grace') },
        );
        return showKey(context, body);
      },
      revoke: async ({ api, words, note }) => {
        await api.send('DELETE', keyPath(words[0]));
        note(`Key ${words[0] ?? ''} is revoked.`);
        return 0;
      },
    }),
  },
  'kill-switch': {
    alias: 'kill-switches',
    args: ['<list|set|clear>', '[id]'],
    options: ['scope', 'target', 'message', 'retry-after'],
    summary: 'switch a part of the service off, with a message that customers read',
    run: branches('kill-switch', {
      list: async (context) => {
        const rows = await listAll(context, '/api/kill-switches');
        if (context.flags.json) context.print(JSON.stringify(rows, null, 2));
        else if (rows.length === 0) context.print('Nothing is switched off.');
        else
          for (const line of renderTable(
            ['ID', 'SCOPE', 'TARGET', 'MESSAGE'],
            rows.map(({ id, value }) => [
              id,
              String(value?.['scope']),
              String(value?.['target'] ?? ''),
              String(value?.['message']),
            ]),
          ))
            context.print(line);
        return 0;
      },
      set: async ({ api, words, flags, note }) => {
        const id = need(words[0], 'The name of the switch');
        await api.send('PUT', `/api/kill-switches/${encodeURIComponent(id)}`, {
          scope: need(flags.scope, '--scope'),
          message: need(flags.message, '--message'),
          ...(flags.target === undefined ? {} : { target: flags.target }),
          ...(flags['retry-after'] === undefined
            ? {}
            : { retryAfterSeconds: wholeNumber(flags['retry-after'], '--retry-after') }),
        });
        note(`Kill switch ${id} is set.`);
        return 0;
      },
      clear: async ({ api, words, note }) => {
        const id = need(words[0], 'The name of the switch');
        await api.send('DELETE', `/api/kill-switches/${encodeURIComponent(id)}`);
        note(`Kill switch ${id} is cleared.`);
        return 0;
      },
    }),
  },
  dlq: {
    alias: 'dlqs',
    args: ['<list|redrive>', '[queue]'],
    options: [],
    summary: 'dead letters: how many, and back to their queue',
    run: branches('dlq', {
      list: async ({ api, flags, print }) => {
        const states = z.array(DlqState).parse((await api.send('GET', '/api/dlqs')).body);
        if (flags.json) print(JSON.stringify(states, null, 2));
        else
          for (const line of renderTable(
            ['QUEUE', 'DEAD LETTERS', 'SINCE (S)'],
            states.map((state) => [state.queue, String(state.depth), String(state.oldest_age_s ?? '')]),
          ))
            print(line);
        return 0;
      },
      redrive: async ({ api, words, flags, print }) => {
        const moved = RedriveAnswer.parse((await api.send('POST', `${queuePath(words[0])}/redrive`)).body);
        print(
          flags.json
            ? JSON.stringify(moved, null, 2)
            : `${moved.moved} moved back to ${moved.queue}, ${moved.left} left, ${moved.refused} refused${moved.finished ? '' : '; not finished, run it again'}.`,
        );
        return moved.finished && moved.refused === 0 ? 0 : 1;
      },
    }),
  },
  status: {
    args: [],
    options: [],
    summary: 'the live picture in short; exits 1 while something is degraded',
    run: async ({ api, flags, print }) => {
      const state = OperatorState.parse((await api.send('GET', '/api/state')).body);
      if (flags.json) print(JSON.stringify(state, null, 2));
      else for (const line of renderState(state)) print(line);
      return state.problems.length === 0 ? 0 : 1;
    },
  },
};

function renderState(state: OperatorState): string[] {
  const outcomes = (totals: Readonly<Record<string, number | undefined>>): string =>
    Object.entries(totals)
      .map(([outcome, count]) => `${outcome} ${count ?? 0}`)
      .join(', ') || 'no calls';
  return [
    `Configuration version ${state.config_version}, ${state.at}`,
    '',
    ...renderTable(
      ['GATEWAY', 'CELL', 'LIVE', 'RUNS', 'IN FLIGHT'],
      state.gateways.map((gateway) => [
        gateway.gateway_id,
        gateway.cell_id,
        gateway.live ? 'yes' : 'NO',
        String(gateway.config_version),
        String(gateway.in_flight),
      ]),
    ),
    '',
    ...renderTable(
      ['TENANT', 'PLAN', 'LAST TWO MINUTES'],
      state.tenants.map((tenant) => [tenant.tenant, tenant.plan, outcomes(tenant.totals)]),
    ),
    '',
    ...(state.problems.length === 0
      ? ['Nothing is degraded.']
      : ['Degraded:', ...state.problems.map((problem) => `  ${problem}`)]),
  ];
}
