import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { CliError } from './cli-error.ts';
import { connectionFrom } from './connect.ts';
import { KINDS } from './resource-commands.ts';
import { COMMANDS, runCli } from './run-cli.ts';
import { readYaml } from './yaml-file.ts';

const Shape = z.strictObject({
  plans: z.array(z.strictObject({ id: z.string(), prices: z.record(z.string(), z.int()).optional() })),
});

function faultsOf(source: string, variables: Record<string, string> = {}): string {
  try {
    readYaml('p.yaml', source, Shape, variables);
    return '';
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error.message;
  }
}

describe('a platform file', () => {
  it('is YAML or JSON, in which ${NAME} stands for a variable and $${ for itself', () => {
    expect(readYaml('p.yaml', 'plans: [{ id: "a-${X}-$${X}" }]', Shape, { X: '1' }).value).toEqual({
      plans: [{ id: 'a-1-${X}' }],
    });
    expect(readYaml('p.json', '{"plans":[{"id":"a"}]}', Shape, {}).value).toEqual({ plans: [{ id: 'a' }] });
  });

  it('names line and column of what is wrong with it', () => {
    expect(faultsOf('plans:\n  - id: a\n  - id: [b]\n')).toMatch(/^p\.yaml:3:5: plans\.1\.id: /);
    expect(faultsOf('plans:\n  - id: a\n    prices:\n      gpt-4.1: cheap\n')).toMatch(
      /^p\.yaml:4:7: plans\.0\.prices\.gpt-4\.1: /,
    );
    expect(faultsOf('plans:\n  - id: ${SECRET}\n')).toBe('p.yaml:2:5: the variable SECRET is not set');
    expect(faultsOf('plans:\n  - id: a\n    id: b\n')).toMatch(/^p\.yaml: .*unique/s);
    expect(faultsOf('plans: [')).toMatch(/^p\.yaml: /);
    expect(faultsOf('plan: []')).toContain('plan');
  });
});

describe('the command line', () => {
  let server: Server;
  let url: string;
  let seen: { method: string; path: string; authorization: string | undefined; body: string }[];
  let diff: unknown;
  let refusal: { status: number; problem: object } | undefined;
  let printed: string[];
  let noted: string[];
  let agreed: boolean | undefined;

  beforeEach(async () => {
    [seen, printed, noted, refusal, agreed] = [[], [], [], undefined, undefined];
    diff = { version: 7, changes: [], undeclared: [], applied: false };
    server = createServer((req, res) => {
      void text(req).then((body) => {
        seen.push({ method: req.method ?? '', path: req.url ?? '', authorization: req.headers.authorization, body });
        const answer = (status: number, value: unknown): void =>
          void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
        if (req.url === '/api/session') answer(200, { token: 'session-token' });
        else if (refusal !== undefined)
          answer(refusal.status, {
            type: 'about:blank',
            title: 'Refused',
            status: refusal.status,
            request_id: 'r',
            ...refusal.problem,
          });
        else
          answer(
            200,
            req.url?.startsWith('/api/platform') === true
              ? diff
              : { rows: [{ id: 'acme', version: 3, value: { name: 'Acme' } }], next_cursor: null },
          );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => void server.close());

  const sluice = (...args: string[]): Promise<number> =>
    runCli(args, {
      env: { SECRET: 'from the environment' },
      connect: () => ({ url, credential: { user: 'ops', password: 'p' } }),
      print: (line) => void printed.push(line),
      note: (line) => void noted.push(line),
      ask: async () => agreed,
      readText: async () => 'tenants:\n  - id: acme\n    name: ${SECRET}\n    plan: free\n    limits: {}\n',
    });
  const paths = (): string[] => seen.map(({ method, path }) => `${method} ${path}`);
  const CHANGE = {
    table: 'tenants',
    id: 'acme',
    action: 'update',
    fields: [{ path: 'plan', before: 'free', after: 'team' }],
  };

  it('signs in, sends what the file says with its variables, and ends its session', async () => {
    expect(await sluice('apply', '-f', 'p.yaml')).toBe(0);
    expect(paths()).toEqual(['POST /api/session', 'POST /api/platform/diff', 'DELETE /api/session']);
    expect(seen[1]?.authorization).toBe('Bearer session-token');
    expect(seen[1]?.body).toContain('"name":"from the environment"');
    expect(printed).toEqual(['Nothing to do.']);
  });

  it('shows the difference and changes nothing unless somebody agrees or --yes is given', async () => {
    diff = { version: 7, changes: [CHANGE], undeclared: [{ table: 'tenants', id: 'old' }], applied: false };
    expect(await sluice('apply', '-f', 'p.yaml')).toBe(1);
    expect(printed).toEqual([
      '~ tenant acme',
      '    plan: free -> team',
      'Not in the file, and left as they are (--prune removes them): tenant old',
    ]);
    expect(noted.join()).toContain('--yes');
    agreed = false;
    expect(await sluice('apply', '-f', 'p.yaml')).toBe(1);
    expect(paths()).not.toContain('POST /api/platform/apply');
    agreed = true;
    expect(await sluice('apply', '-f', 'p.yaml')).toBe(0);
    expect(await sluice('apply', '-f', 'p.yaml', '--yes', '--json')).toBe(0);
    const applied = seen.filter(({ path }) => path === '/api/platform/apply');
    expect(applied).toHaveLength(2);
    expect(JSON.parse(applied[0]?.body ?? '')).toMatchObject({ prune: false, ifVersion: 7 });
    expect(await sluice('diff', '-f', 'p.yaml')).toBe(3);
  });

  it('tells a refusal at its place in the file', async () => {
    refusal = { status: 400, problem: { errors: [{ path: 'tenants.0.plan', message: 'there is no plan free' }] } };
    expect(await sluice('apply', '-f', 'p.yaml', '--yes')).toBe(1);
    expect(noted).toEqual(['sluice: p.yaml:4:5: tenants.0.plan: there is no plan free']);
  });

  it('prints JSON alone with --json, and ends with 1 and the reason when it is refused', async () => {
    expect(await sluice('list', 'tenants', '--json')).toBe(0);
    expect(JSON.parse(printed.join('\n'))).toEqual([{ id: 'acme', version: 3, value: { name: 'Acme' } }]);
    refusal = { status: 403, problem: { title: 'Your role does not allow this', detail: 'It needs the role admin.' } };
    expect(await sluice('kill-switch', 'set', 'x', '--scope', 'all', '--message', 'm')).toBe(1);
    expect(noted.at(-1)).toContain('answered 403: Your role does not allow this: It needs the role admin.');
  });

  it('ends with 2 and sends nothing for what it does not understand', async () => {
    for (const args of [
      ['aply'],
      ['apply'],
      ['list', 'things'],
      ['get', 'tenant'],
      ['keys'],
      ['keys', 'create', '--workspace', 'x'],
      ['list', '--nonsense'],
      ['kill-switch', 'set'],
      ['dlq', 'redrive'],
      ['keys', 'rotate', 'x', '--grace', '1h'],
    ]) {
      expect([args, await sluice(...args)]).toEqual([args, 2]);
    }
    expect(paths().filter((path) => !path.endsWith('/api/session'))).toEqual([]);
    expect(await sluice('help')).toBe(0);
    expect(printed.join('\n')).toContain('Usage: sluice');
    expect(printed.join('\n')).toContain('apply');
  });

  it('names the nearest word for an option or a command that is not there', async () => {
    expect(await sluice('apply', '--prun', '-f', 'p.yaml')).toBe(2);
    expect(noted.join('\n')).toMatch(/unknown option '--prun'\s+\(Did you mean --prune\?\)/);
    expect(await sluice('lst', 'tenants')).toBe(2);
    expect(noted.join('\n')).toMatch(/unknown command 'lst'\s+\(Did you mean list\?\)/);
    // An option of another command is no option here.
    expect(await sluice('status', '--prune')).toBe(2);
    expect(await sluice('get', 'tenant', 'acme', 'globex')).toBe(2);
    expect(paths()).toEqual([]);
  });

  it('takes every kind in the singular and in the plural', async () => {
    expect([...new Set(KINDS.values())].join(' ')).toBe(
      'tenants workspaces plans providers models cells keys users operators gateways kill-switches',
    );
    for (const [word, plural] of KINDS) {
      seen.length = 0;
      expect([word, await sluice('list', word)]).toEqual([word, 0]);
      expect(paths()).toContainEqual(expect.stringContaining(`GET /api/${plural}?`));
    }
    for (const word of ['constructor', 'toString', 'tenantss', 'workspac', ''])
      expect([word, await sluice('list', word)]).toEqual([word, 2]);
    for (const command of ['key', 'keys', 'kill-switches', 'kill-switch'])
      expect([command, await sluice(command, 'list')]).toEqual([command, 0]);
  });

  it('tells its version, and of each command what it takes', async () => {
    expect(await sluice('--version')).toBe(0);
    expect(printed).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    for (const [name, { summary, options }] of Object.entries(COMMANDS)) {
      for (const args of [
        [name, '--help'],
        ['help', name],
      ]) {
        printed.length = 0;
        expect([args, await sluice(...args)]).toEqual([args, 0]);
        expect(printed.join('\n')).toContain(`Usage: sluice ${name}`);
        expect(printed.join('\n').replace(/\s+/g, ' ')).toContain(summary.replace(/\s+/g, ' '));
        for (const option of [...options, 'json', 'url', 'user']) expect(printed.join('\n')).toContain(`--${option}`);
      }
    }
    expect(paths()).toEqual([]);
  });

  it('is what docs/cli.md says: each command and each option of its own stands there', async () => {
    const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    for (const [name, { alias, options }] of Object.entries(COMMANDS)) {
      const of = rows.filter((line) => line.includes(`\`${name} `) || line.includes(`\`${name}\``)).join('\n');
      expect([name, of]).not.toEqual([name, '']);
      for (const word of [
        ...options.map((option) => (option === 'file' ? '-f' : `--${option}`)),
        ...(alias === undefined ? [] : [alias]),
      ])
        expect([name, word, of.includes(word)]).toEqual([name, word, true]);
    }
    const known = new Set(Object.entries(COMMANDS).flatMap(([name, { alias }]) => [name, alias ?? name]));
    for (const [, word = ''] of rows.join('\n').matchAll(/^\| `([a-z-]+)/gm)) expect([...known]).toContain(word);
  });

  it('says when nothing answers', async () => {
    await new Promise((resolve) => server.close(resolve));
    expect(await sluice('status')).toBe(1);
    expect(noted).toEqual([`sluice: The control plane at ${url} does not answer: ECONNREFUSED`]);
  });
});

describe('which control plane, and as whom', () => {
  const nowhere = '/nonexistent/folder';
  const env = (more: Record<string, string>) => ({ SLUICE_DATA_DIR: nowhere, ...more });

  it('is told by environment and options, and a password never goes where nobody said', () => {
    expect(connectionFrom({ url: 'http://x' }, env({ SLUICE_TOKEN: 't' }), '/')).toEqual({
      url: 'http://x',
      credential: { token: 't' },
    });
    expect(connectionFrom({}, env({ SLUICE_URL: 'http://y', SLUICE_USER: 'u', SLUICE_PASSWORD: 'p' }), '/')).toEqual({
      url: 'http://y',
      credential: { user: 'u', password: 'p' },
    });
    expect(() => connectionFrom({ url: 'http://x' }, env({}), '/')).toThrow('As whom?');
    expect(() => connectionFrom({ url: 'http://x', user: 'u' }, env({}), '/')).toThrow('SLUICE_PASSWORD');
    expect(() => connectionFrom({}, env({}), '/')).toThrow('Which control plane?');
  });
});
