import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { startFullStack, type FullStack } from './full-stack.ts';

const SLUICE = fileURLToPath(new URL('../../bin/sluice', import.meta.url));
const PATIENT = { timeoutMs: 30_000 };

let stack: FullStack;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-platform-'));
  stack = await startFullStack({ late: AbortSignal.timeout(200_000) });
}, 280_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** Runs the command line as a person would, outside of the checkout. */
function sluice(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { operator, services } = stack.file;
  const child = spawn(SLUICE, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      SLUICE_URL: services['control-plane'].url,
      SLUICE_USER: operator.user,
      SLUICE_PASSWORD: operator.password,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const version = async (): Promise<number> => (await stack.state()).config_version;

describe('the command line against a whole stack', () => {
  it('applies a file, exports what differs from nothing, changes nothing when it applies again, and refuses a bad file by the field', async () => {
    const declared = file(
      'umbrella.yaml',
      [
        'tenants:',
        '  - { id: umbrella, name: Umbrella, plan: free, limits: { quotas: [] } }',
        'workspaces:',
        '  - { slug: umbrella-prod, tenant: umbrella }',
        '',
      ].join('\n'),
    );
    const applied = await sluice('apply', '-f', declared, '--yes');
    expect([applied.code, applied.err]).toEqual([0, expect.anything()]);
    expect(await stack.api('GET', '/api/workspaces/umbrella-prod')).toMatchObject({ value: { tenant: 'umbrella' } });

    const exported = await sluice('export');
    expect(exported.code).toBe(0);
    expect(exported.out).toContain('umbrella-prod');
    const whole = file('whole.yaml', exported.out);
    const before = await version();
    const differs = await sluice('diff', '-f', whole, '--json');
    expect([differs.code, JSON.parse(differs.out)]).toEqual([0, expect.objectContaining({ changes: [] })]);
    for (const again of [declared, whole]) expect((await sluice('apply', '-f', again, '--yes')).code).toBe(0);
    expect(await version()).toBe(before);

    const bad = await sluice(
      'apply',
      '-f',
      file('bad.yaml', 'tenants:\n  - { id: wayne, name: Wayne, plan: nowhere, limits: { quotas: [] } }\n'),
      '--yes',
    );
    expect(bad.code).toBe(1);
    expect(bad.err).toMatch(/bad\.yaml:2:\d+: tenants\.(0|wayne)\.plan: .*nowhere/);
    expect(await version()).toBe(before);
  }, 90_000);
});

describe("a customer's overage cap", () => {
  it('is where the gateway refuses with 402, and once the customer raises it calls are admitted again', async () => {
    const team = (await stack.api('GET', '/api/plans/team')) as { value: object };
    // Each token is overage at $1 a million; the cap is worth 2,000 tokens.
    await stack.api('PUT', '/api/plans/metered', {
      ...team.value,
      id: 'metered',
      displayName: 'Metered',
      allotment: { totalTokens: 0, feeNanoUsd: 0, overage: { picoUsdPerToken: 1_000_000, capNanoUsd: 2_000_000 } },
    });
    await stack.api('PUT', '/api/tenants/stark', {
      id: 'stark',
      name: 'Stark',
      plan: 'metered',
      limits: { quotas: [] },
    });
    await stack.api('PUT', '/api/workspaces/stark-prod', { slug: 'stark-prod', tenant: 'stark' });
    await stack.api('POST', '/api/users', {
      email: 'fay@stark.example',
      password: 'a password of fay',
      roles: { 'stark-prod': 'finance' },
    });
    const { key } = (await stack.api('POST', '/api/workspaces/stark-prod/keys', { name: 'test' })) as { key: string };
    const window = async (): Promise<number | undefined> => {
      const { value } = (await stack.api('GET', '/api/tenants/stark')) as {
        value: { limits: { quotas: { id: string; limit: number; mode: string }[] } };
      };
      return value.limits.quotas.find(({ id, mode }) => id === 'overage-cap' && mode === 'hard')?.limit;
    };
    await eventually(async () => expect(await window()).toBe(2_000), PATIENT);
    const call = () =>
      chat(stack.gatewayUrl, { key, body: { max_tokens: 400 }, sim: { output_tokens: 400, ttft_ms: 0, chunk_ms: 0 } });
    await eventually(async () => expect((await call()).status).toBe(200), PATIENT);

    const statuses: number[] = [];
    for (let calls = 0; calls < 10 && statuses.at(-1) !== 402; calls += 1) statuses.push((await call()).status);
    expect(statuses.at(-1)).toBe(402);
    expect(statuses.slice(0, -1).every((status) => status === 200)).toBe(true);
    const refused = await call();
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      402,
      { error: expect.objectContaining({ type: 'insufficient_quota', code: 'insufficient_quota' }) },
    ]);

    // As the customer does it in the console.
    const base = stack.file.services.console.url;
    const signedIn = await fetch(`${base}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify({ email: 'fay@stark.example', password: 'a password of fay' }),
    });
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const billing = await fetch(`${base}/api/billing?workspace=stark-prod`, { headers: { cookie } });
    expect(await billing.json()).toMatchObject({ overage_cap: { nanousd: 2_000_000 } });
    const raised = await fetch(`${base}/api/billing?workspace=stark-prod`, {
      method: 'PUT',
      headers: {
        cookie,
        origin: base,
        'content-type': 'application/json',
        'if-match': billing.headers.get('etag') ?? '',
      },
      body: JSON.stringify({ overage_cap_nanousd: 20_000_000 }),
    });
    expect([raised.status, await raised.json()]).toEqual([
      200,
      expect.objectContaining({ overage_cap: expect.objectContaining({ nanousd: 20_000_000 }) }),
    ]);
    expect(await window()).toBe(20_000);
    await eventually(async () => expect((await call()).status).toBe(200), PATIENT);
  }, 90_000);
});
