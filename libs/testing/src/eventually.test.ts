import { eventually } from './eventually.ts';

describe('eventually', () => {
  it('gives the first value that comes without an error', async () => {
    let tries = 0;
    const value = await eventually(
      () => {
        if (++tries < 3) throw new Error('not yet');
        return tries;
      },
      { everyMs: 1 },
    );
    expect(value).toBe(3);
  });

  it('fails with the last error once the time is over', async () => {
    await expect(
      eventually(() => Promise.reject(new Error('still empty')), { timeoutMs: 5, everyMs: 1 }),
    ).rejects.toThrow('not so after 5 ms: still empty');
  });
});
