import type { CallResult } from '../load/send-call.ts';
import { judgeNeighbour, QUEUE_TOLERANCE_MS, summarise } from './noisy-neighbour.ts';

const call = (over: Partial<CallResult>): CallResult => ({
  outcome: 'ok',
  status: 200,
  refusal: undefined,
  sentAtMs: 0,
  totalMs: 100,
  queueMs: 0,
  requestId: 'req_1',
  told: undefined,
  ...over,
});
const FLOOD_AT = 1_000;
const calm = [call({}), call({})];

describe('judgeNeighbour', () => {
  it('has nothing to say when every call was answered and queue times stayed', () => {
    expect(judgeNeighbour('acme', [...calm, call({ sentAtMs: 2_000, queueMs: QUEUE_TOLERANCE_MS })], FLOOD_AT)).toEqual(
      [],
    );
  });

  it('complains about a single shed or throttled call', () => {
    const results = [
      ...calm,
      call({ sentAtMs: 2_000 }),
      call({ sentAtMs: 2_000, outcome: 'shed', status: 503, queueMs: undefined }),
    ];
    expect(judgeNeighbour('acme', results, FLOOD_AT)).toEqual(['acme: 1 of 4 calls ended as shed']);
  });

  it('complains about a queue time that grew beyond the tolerance', () => {
    const results = [...calm, call({ sentAtMs: 2_000, queueMs: QUEUE_TOLERANCE_MS + 1 })];
    expect(judgeNeighbour('acme', results, FLOOD_AT)[0]).toMatch(/queue time p99 went from 0.0 to 6.0 ms/);
  });

  it('proves nothing without the queue times of the gateway', () => {
    expect(judgeNeighbour('acme', [call({ queueMs: undefined })], FLOOD_AT)).toHaveLength(1);
  });
});

describe('summarise', () => {
  it('counts every call in exactly one column', () => {
    const results = [call({}), call({ outcome: 'throttled' }), call({ outcome: 'shed' }), call({ outcome: 'timeout' })];
    expect(summarise([{ tenant: 'acme', results }], FLOOD_AT)[1]?.slice(0, 6)).toEqual([
      'acme',
      '4',
      '1',
      '1',
      '1',
      '1',
    ]);
  });
});
