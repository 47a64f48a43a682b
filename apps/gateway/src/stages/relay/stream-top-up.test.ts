import type { AdmissionLease, LimitRefusal, Reservation } from '@sluice/contracts';
import { StreamTopUp } from './stream-top-up.ts';

const PRICE = { inputPicoUsd: 1_000_000, outputPicoUsd: 2_000_000 };
const REFUSAL = { kind: 'quota' } as LimitRefusal;

function topUpOf(
  room: number,
  answer: (refusal: LimitRefusal | undefined) => LimitRefusal | undefined | Promise<LimitRefusal | undefined> = (
    refusal,
  ) => refusal,
) {
  const asked: number[] = [];
  const granted: Reservation[] = [];
  let exhausted = 0;
  const faults: unknown[] = [];
  const topUp = new StreamTopUp({
    limits: {
      topUp(_lease, more) {
        asked.push(more.outputTokens);
        if (more.outputTokens > room) return answer(REFUSAL);
        room -= more.outputTokens;
        granted.push(more);
        return answer(undefined);
      },
    },
    lease: {} as AdmissionLease,
    reservedTokens: 100,
    charsPerToken: 4,
    price: PRICE,
    onExhausted: () => (exhausted += 1),
    onFault: (error) => faults.push(error),
  });
  return { topUp, asked, granted, faults, exhausted: () => exhausted };
}

describe('the top-up of a stream', () => {
  it('asks for nothing while the answer stays within what was expected', () => {
    const { topUp, asked } = topUpOf(1e9);
    for (let chars = 0; chars < 360; chars += 4) topUp.seen(chars);
    expect(asked).toEqual([]);
  });

  it('keeps the reservation ahead of what was produced, in growing steps', () => {
    const { topUp, asked, granted } = topUpOf(1e9);
    for (let chars = 0; chars <= 40_000; chars += 4) {
      topUp.seen(chars);
      const reserved = 100 + granted.reduce((sum, more) => sum + more.outputTokens, 0);
      expect(reserved * 4).toBeGreaterThanOrEqual(chars);
    }
    expect(asked.length).toBeLessThan(15);
    expect(granted[0]).toEqual({ inputTokens: 0, outputTokens: 64, costNanoUsd: 128_000 });
  });

  it('catches up when one buffer holds more than is reserved', () => {
    const { topUp, granted } = topUpOf(1e9);
    topUp.seen(4_000);
    expect(granted[0]?.outputTokens).toBeGreaterThanOrEqual(900);
  });

  it('takes what is left of a quota in smaller steps before it says once that nothing is left', () => {
    const { topUp, granted, exhausted } = topUpOf(50);
    for (let chars = 0; chars < 4_000; chars += 4) topUp.seen(chars);
    expect(granted.reduce((sum, more) => sum + more.outputTokens, 0)).toBeGreaterThan(50 - 8);
    expect(exhausted()).toBe(1);
  });

  it('has one question under way at a time with a store that answers later', async () => {
    const { topUp, asked } = topUpOf(1e9, (refusal) => Promise.resolve(refusal));
    for (let chars = 400; chars < 800; chars += 4) topUp.seen(chars);
    expect(asked).toHaveLength(1);
    await Promise.resolve();
    topUp.seen(4_000);
    expect(asked).toHaveLength(2);
  });

  it('lets the stream go on when the store fails', async () => {
    const { topUp, faults, exhausted } = topUpOf(1e9, () => Promise.reject(new Error('gone')));
    topUp.seen(4_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toHaveLength(1);
    expect(exhausted()).toBe(0);
  });
});
