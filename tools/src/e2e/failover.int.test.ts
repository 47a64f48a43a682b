import { portsFrom } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { chat, countByStatus } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;
const key = keyOf('acme-prod');

beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod' },
      { tenant: 'only', slug: 'only-prod', policy: { dataRules: { noFallback: true } } },
    ],
  });
});
afterEach(async () => {
  for (const provider of ['primary', 'secondary', 'tertiary']) await stack.clearFault(provider);
});
const readMetrics = async (): Promise<string> =>
  (await fetch(`http://127.0.0.1:${portsFrom(stack.portBase).gatewayAdmin}/metrics`)).text();

/** Accounts of providers that rest or are locked. */
const restingAccounts = async (): Promise<number> =>
  [...(await readMetrics()).matchAll(/^sluice_gateway_account_state\{.*\} [1-9]/gm)].length;

afterAll(() => stack.stop());

describe('upstream failures', () => {
  it('before the first content the next provider answers, translated where it speaks another dialect, and the answer says so', async () => {
    await stack.fault('primary', { kind: 'down' });
    for (const stream of [false, true]) {
      const answer = await chat(stack.url, { key, stream });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-sluice-provider')).toBe('secondary');
      expect(answer.headers.get('x-sluice-fallback')).toBe('true');
      expect(answer.headers.get('x-sluice-fallback-reason')).toBe('error');
    }
  });

  it('a workspace whose contract forbids a fallback gets a clear 502 instead', async () => {
    await stack.fault('primary', { kind: 'error', status: 500 });
    const answer = await chat(stack.url, { key: keyOf('only-prod') });
    expect(answer.status).toBe(502);
    expect(answer.headers.get('x-sluice-refusal')).toBe('upstream_unavailable');
    expect(JSON.parse(answer.text).error.code).toBe('upstream_unavailable');
  });

  it('after the first content a cut stream ends with an error in band and no end marker', async () => {
    await stack.fault('primary', { kind: 'cut_stream', after_chunks: 4 });
    const answer = await chat(stack.url, { key, stream: true });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"error"');
    expect(answer.text).not.toContain('[DONE]');
  });

  it('a provider that limits us passes its waiting time on, after the chain is exhausted', async () => {
    await stack.fault('primary', { kind: 'rate_limit', retry_after_s: 2 });
    await stack.fault('secondary', { kind: 'rate_limit', retry_after_s: 2 });
    await stack.fault('tertiary', { kind: 'rate_limit', retry_after_s: 2 });
    const answer = await chat(stack.url, { key });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('x-sluice-refused-by')).toBe('upstream');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    // The accounts rest for the tests that follow too.
    await eventually(async () => expect(await restingAccounts()).toBe(0));
  });

  it('an answer that cannot be read is not passed on as a success', async () => {
    await stack.fault('primary', { kind: 'garbage' });
    const answer = await chat(stack.url, { key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-sluice-provider')).toBe('secondary');
  });

  it('a broken provider is skipped once its breaker is open, and used again when it has recovered', async () => {
    await stack.fault('primary', { kind: 'error', status: 503 });
    const during = await Promise.all(Array.from({ length: 40 }, () => chat(stack.url, { key, model: 'sim-medium' })));
    expect(countByStatus(during)).toEqual({ 200: 40 });
    const skipped = await chat(stack.url, { key, model: 'sim-medium' });
    expect(skipped.headers.get('x-sluice-fallback-reason')).toBe('breaker_open');
    await stack.clearFault('primary');
    await eventually(
      async () => {
        const answer = await chat(stack.url, { key, model: 'sim-medium' });
        expect(answer.headers.get('x-sluice-provider')).toBe('primary');
      },
      { timeoutMs: 45_000, everyMs: 300 },
    );
  });

  // Last, because the account rests for a while afterwards.
  it('every step of a failover stands in the metrics: who was passed over and why, retries, breakers, accounts', async () => {
    await stack.fault('primary', { kind: 'error', status: 401 });
    const answer = await chat(stack.url, { key });
    expect([
      answer.status,
      answer.headers.get('x-sluice-fallback-reason'),
      answer.headers.get('x-sluice-provider'),
    ]).toEqual([200, 'error', 'secondary']);
    await stack.clearFault('primary');
    const skipped = await chat(stack.url, { key });
    expect([skipped.status, skipped.headers.get('x-sluice-fallback-reason')]).toEqual([200, 'no_capacity']);
    const metrics = await readMetrics();
    expect(metrics).toMatch(
      /sluice_gateway_fallbacks_total\{provider="primary",reason="no_capacity",service="gateway"\} 1/,
    );
    expect(metrics).toMatch(/sluice_gateway_account_state\{provider="primary",credential="main",service="gateway"\} 2/);
    expect(metrics).toMatch(
      /sluice_gateway_breaker_state\{provider="secondary",model="sim-small",service="gateway"\} 0/,
    );
    expect(metrics).toMatch(/sluice_gateway_retries_total\{provider="primary",service="gateway"\} [1-9]/);
  });
});
