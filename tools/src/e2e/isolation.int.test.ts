import { eventually } from '@sluice/testing';
import { chat, constantRate, countByStatus } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

let stack: GatewayStack;

beforeAll(async () => {
  stack = await startGatewayStack({
    slots: 20,
    workspaces: [
      { tenant: 'steady', slug: 'steady-prod', tenantLimits: { requests: { perSecond: 100, burst: 100 } } },
      {
        tenant: 'noisy',
        slug: 'noisy-prod',
        tenantLimits: { requests: { perSecond: 5, burst: 10 }, concurrency: { inFlight: 10, queued: 5 } },
      },
      {
        tenant: 'patient',
        slug: 'patient-prod',
        tenantLimits: { requests: { perSecond: 50, burst: 50 }, concurrency: { inFlight: 10, queued: 10 } },
      },
    ],
  });
});
afterAll(() => stack.stop());

describe("one customer's traffic and its neighbours", () => {
  it('a flood at 24 times its limit is throttled and shed, and the neighbour is neither, nor does it wait', async () => {
    const [flood, steady] = await Promise.all([
      constantRate(120, 3, () => chat(stack.url, { key: keyOf('noisy-prod'), sim: { output_tokens: 40 } })),
      // Fewer calls than its own share of the slots, however long each takes: if one waits, it waits for the flood.
      constantRate(3, 3, () => chat(stack.url, { key: keyOf('steady-prod') })),
    ]);
    const noisy = countByStatus(flood);
    expect(noisy[429]).toBeGreaterThan(200);
    expect(noisy[200]).toBeGreaterThan(10);
    expect(countByStatus(steady)).toEqual({ 200: 9 });
    const waits = steady.map((answer) => Number(answer.headers.get('x-sluice-queue-ms')));
    // Whoever waits for the flood waits every time; a busy machine may hold up one.
    expect(waits.toSorted((a, b) => a - b)[4]).toBeLessThan(50);
  });

  it('a provider that turns slow is contained by the bulkhead, not by the limiter: shed, and never throttled', async () => {
    await stack.fault('primary', { kind: 'slow', latency_ms: 6_000 });
    try {
      const answers = await constantRate(5, 4, () => chat(stack.url, { key: keyOf('patient-prod') }));
      const counts = countByStatus(answers);
      expect(counts[503]).toBeGreaterThan(0);
      expect(counts[429] ?? 0).toBe(0);
      const shed = answers.find((answer) => answer.status === 503);
      expect(shed?.headers.get('x-sluice-refusal')).toBe('shed');
      expect(Number(shed?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    } finally {
      await stack.clearFault('primary');
    }
  });

  it("one customer's hanging calls never hold more than half of a provider's slots", async () => {
    await stack.fault('primary', { kind: 'slow', latency_ms: 10_000 });
    const hanging = Array.from({ length: 15 }, () => chat(stack.url, { key: keyOf('steady-prod') }));
    const inFlight = async (): Promise<number> => (await stack.stats('primary')).in_flight;
    await eventually(async () => expect(await inFlight()).toBe(10));
    await stack.clearFault('primary');
    const neighbour = await chat(stack.url, { key: keyOf('patient-prod') });
    expect(await inFlight()).toBeLessThanOrEqual(10);
    expect(neighbour.status).toBe(200);
    // A wait for the hanging calls would take seconds.
    expect(Number(neighbour.headers.get('x-sluice-queue-ms'))).toBeLessThan(2_000);
    await Promise.all(hanging);
  });

  it('a customer sees nothing of another: an unknown key and a foreign host answer alike', async () => {
    const unknown = await chat(stack.url, { key: keyOf('nobody-prod') });
    expect(unknown.status).toBe(401);
    expect(unknown.text).not.toMatch(/steady|noisy|patient/);
  });
});
