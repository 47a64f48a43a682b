import { batchesOf } from './sns-publisher.ts';

const event = (n: number, bytes = 10) => ({
  id: String(n),
  topic: 'usage-events' as const,
  body: 'x'.repeat(bytes),
  attributes: { type: 't' },
});

describe('batches for SNS', () => {
  it('hold at most ten events, in order', () => {
    const batches = batchesOf(Array.from({ length: 21 }, (_, n) => event(n)));
    expect(batches.map((batch) => batch.length)).toEqual([10, 10, 1]);
    expect(batches.flat().map((one) => Number(one.id))).toEqual(Array.from({ length: 21 }, (_, n) => n));
  });

  it('hold at most 256 KiB and never mix topics', () => {
    expect(batchesOf([event(1, 200_000), event(2, 50_000), event(3, 50_000)]).map((batch) => batch.length)).toEqual([
      2, 1,
    ]);
    expect(
      batchesOf([event(1), { ...event(2), topic: 'audit-events' }, event(3)]).map((batch) =>
        batch.map((one) => one.id),
      ),
    ).toEqual([['1', '3'], ['2']]);
  });
});
