import { MAX_EVENT_BYTES, type EventHandler } from '@sluice/contracts';
import { judgeBatch } from './judge-batch.ts';

const message = (messageId: string, body = '{}', receiveCount = 1) => ({
  messageId,
  body,
  attributes: {},
  receiveCount,
});

describe('judging a batch', () => {
  it('keeps a body that nobody can read away from the handler, and says why', async () => {
    const seen: string[] = [];
    const bodies = {
      text: '{',
      list: '[1]',
      deep: `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      large: `{"a":"${'x'.repeat(MAX_EVENT_BYTES)}"}`,
      good: JSON.stringify({ a: `${'[{'.repeat(100)}\\"[[` }),
    };
    const failed = await judgeBatch(
      Object.entries(bodies).map(([id, body]) => message(id, body)),
      async (batch) => (seen.push(...batch.map((event) => event.messageId)), { failed: new Map() }),
      1000,
    );
    expect(seen).toEqual(['good']);
    expect(failed.get('text')).toBe('the body is not JSON');
    expect(failed.get('list')).toBe('the body is not a JSON object');
    expect(failed.get('deep')).toMatch(/nested 5001 deep/);
    expect(failed.get('large')).toMatch(/at most 262144/);
  });

  it('gives what has failed before to the handler alone, so that the culprit of a throwing batch fails by itself', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `m-${n}`);
    const crash: EventHandler = async (batch) => {
      if (batch.some((event) => event.messageId === 'm-4')) throw new TypeError('cannot read it');
      return { failed: new Map() };
    };
    const first = await judgeBatch(
      ids.map((id) => message(id)),
      crash,
      1000,
    );
    expect(first.size).toBe(10);
    const second = await judgeBatch(
      ids.map((id) => message(id, '{}', 2)),
      crash,
      1000,
    );
    expect([...second]).toEqual([['m-4', 'cannot read it']]);
  });

  it('shares the time among what is tried alone, so that one that hangs leaves time for the others', async () => {
    const hang: EventHandler = (batch) =>
      batch[0]?.messageId === 'a' ? new Promise(() => undefined) : Promise.resolve({ failed: new Map() });
    const failed = await judgeBatch([message('a', '{}', 2), message('b', '{}', 2)], hang, 40);
    expect([...failed]).toEqual([['a', 'the handler took longer than 20 ms']]);
  });

  it('fails the whole batch when the handler throws, or does not come back in time', async () => {
    const thrown = await judgeBatch([message('a'), message('b')], () => Promise.reject(new Error('no database')), 1000);
    expect([...thrown]).toEqual([
      ['a', 'no database'],
      ['b', 'no database'],
    ]);
    const wedged = await judgeBatch([message('a')], () => new Promise(() => undefined), 10);
    expect(wedged.get('a')).toMatch(/longer than 10 ms/);
  });
});
