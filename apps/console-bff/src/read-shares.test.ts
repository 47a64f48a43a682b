import { OF_PERSON, OF_WORKSPACE } from './read-shares.ts';
import { startTestBff, type TestBff } from './test-support/start-test-bff.ts';

let bff: TestBff;
beforeEach(async () => {
  bff = await startTestBff({ shares: { ofPerson: OF_PERSON, ofWorkspace: OF_WORKSPACE }, timeoutMs: 30_000 });
});
afterEach(() => bff.close());

const read = async (token: string, slug: string) => {
  const res = await bff.ask(token, 'get', `/api/overview?workspace=${slug}`);
  await res.text();
  return res;
};

describe('reads of the console', () => {
  it('of two people who ask 400 times a second are refused with a time to wait, and a neighbour’s never', async () => {
    const attackers = [await bff.signIn('admin@globex-prod'), await bff.signIn('admin@initech-prod')];
    const neighbour = await bff.signIn('viewer@acme-prod');
    const attacked: Response[] = [];
    const served: number[] = [];
    for (let tenths = 0; tenths < 20; tenths += 1) {
      const flood = Promise.all(
        [0, 1].flatMap((n) =>
          Array.from({ length: 40 }, () =>
            read(attackers[n] as string, n === 0 ? 'globex-prod' : 'initech-prod').then((res) => attacked.push(res)),
          ),
        ),
      );
      served.push((await read(neighbour, 'acme-prod')).status);
      await flood;
      bff.clock.advance(100);
    }
    expect(new Set(served)).toEqual(new Set([200]));
    const refused = attacked.filter(({ status }) => status === 429);
    expect(refused.every((res) => Number(res.headers.get('retry-after')) >= 1)).toBe(true);
    // Two seconds of their shares at most; who has six calls running waits with twelve.
    expect(attacked.length - refused.length).toBeLessThanOrEqual(2 * (OF_PERSON.burst + 2 * OF_PERSON.perSecond));
  }, 60_000);

  it('never wait behind the calls of somebody whose answers hang', async () => {
    const [attacker, neighbour] = [await bff.signIn('admin@globex-prod'), await bff.signIn('viewer@acme-prod')];
    const release = bff.upstream.hang('globex-prod');
    const hanging = Array.from({ length: 40 }, () => read(attacker, 'globex-prod'));
    for (let n = 0; n < 10; n += 1) expect((await read(neighbour, 'acme-prod')).status).toBe(200);
    release();
    const statuses = (await Promise.all(hanging)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
  }, 60_000);

  it('of many people of one workspace count together', async () => {
    const people = await Promise.all(
      ['admin', 'viewer', 'developer', 'finance'].map((role) => bff.signIn(`${role}@globex-prod`)),
    );
    const statuses: number[] = [];
    for (let n = 0; n < 60; n += 1)
      for (const token of people)
        statuses.push((await bff.ask(token, 'get', '/api/overview?workspace=globex-prod')).status);
    expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(OF_WORKSPACE.burst);
  }, 60_000);
});
