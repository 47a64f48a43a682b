import { judgeBatch } from './judge-batch.ts';

const message = (messageId: string, body = '{}') => ({ messageId, body, attributes: {}, receiveCount: 1 });

describe('judging a batch', () => {
  it('keeps a body that is not JSON away from the handler', async () => {
    const seen: string[] = [];
    const failed = await judgeBatch([message('a', '{'), message('b')], async (batch) => (seen.push(...batch.map((event) => event.messageId)), { failed: new Map() }), 1000);
    expect(seen).toEqual(['b']);
    expect([...failed.keys()]).toEqual(['a']);
  });

  it('fails the whole batch when the handler throws, or does not come back in time', async () => {
    const thrown = await judgeBatch([message('a'), message('b')], () => Promise.reject(new Error('no database')), 1000);
    expect([...thrown]).toEqual([['a', 'no database'], ['b', 'no database']]);
    const wedged = await judgeBatch([message('a')], () => new Promise(() => undefined), 10);
    expect(wedged.get('a')).toMatch(/longer than 10 ms/);
  });
});
