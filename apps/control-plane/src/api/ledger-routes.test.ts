import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
let asked: object[];
beforeAll(async () => {
  asked = [];
  const tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };
  test = await startTestPlane({
    ledger: {
      rows: async (query) => {
        asked.push(query);
        return { rows: [], next_cursor: null };
      },
      summary: async () => ({
        calls: 0,
        attempts: 0,
        tokens,
        cost_nanousd: 0,
        cost_usd: '0',
        billed_nanousd: 0,
        billed_usd: '0',
        outcomes: {},
      }),
      usage: async () => [],
      quotaUse: async () => ({ spans: [] }),
      quotaAudit: async ({ levels }) => ({
        levels: levels.map(({ spans }) => ({ held: true, spans: spans.map(() => []) })),
      }),
      corrections: async () => ({ keys: [] }),
      watermarks: async () => [],
    },
  });
});
afterAll(() => test.close());

describe('the routes of the ledger', () => {
  it('pass filters on as they were given, with 100 rows where no limit is', async () => {
    const query = {
      workspace: 'acme-prod',
      from: '2026-01-01T00:00:00Z',
      to: '2026-02-01T00:00:00.000Z',
      outcome: 'timeout',
      feature: 'search',
      model: 'sim-small',
    };
    expect((await test.call('GET', `/api/ledger?${new URLSearchParams(query)}`)).status).toBe(200);
    expect(asked).toEqual([{ ...query, limit: 100 }]);
  });

  it.each([
    ['from=yesterday', 'from', 'RFC 3339'],
    ['from=2026-01-01', 'from', 'RFC 3339'],
    ['from=1969-12-31T23:59:59Z', 'from', '1970'],
    ['from=2026-01-01T00:00:00.0001Z', 'from', 'milliseconds'],
    ['from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'to', 'after from'],
    ['from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z', 'to', 'after from'],
    ['outcome=fine', 'outcome', 'ok'],
    ['workspace=No_Slug', 'workspace', 'DNS label'],
    ['wrkspace=acme-prod', '', 'wrkspace'],
  ])('answer %s with a 400 that names what is wrong', async (query, path, words) => {
    for (const route of ['/api/ledger', '/api/ledger/summary']) {
      const answer = await test.call('GET', `${route}?${query}`);
      const body = (await answer.json()) as { errors?: { path: string; message: string }[] };
      expect([route, answer.status]).toEqual([route, 400]);
      expect(JSON.stringify(body.errors?.filter((error) => error.path.endsWith(path)))).toContain(words);
    }
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'request_id=1'])('answer rows with %s with a 400', async (query) => {
    expect((await test.call('GET', `/api/ledger?${query}`)).status).toBe(400);
  });

  it('refuse a correction that corrects nothing or gives no reason, and record who has the rollups made anew', async () => {
    const correction = {
      id: 'c1',
      request_id: 'req_01M8NZQBAE9FP39P8R92A5RXH4',
      reason: 'priced twice',
      billed_nanousd: -5,
    };
    expect((await test.call('POST', '/api/ledger/corrections', { ...correction, billed_nanousd: 0 })).status).toBe(400);
    expect((await test.call('POST', '/api/ledger/corrections', { ...correction, reason: ' ' })).status).toBe(400);
    expect(
      (
        await test.call('POST', '/api/ledger/rollups/rebuild', {
          from: '2026-01-02T00:00:00Z',
          to: '2026-01-01T00:00:00Z',
        })
      ).status,
    ).toBe(400);
    expect((await test.call('POST', '/api/ledger/rollups/rebuild', {})).status).toBe(200);
    expect(test.audited.filter(({ type }) => type.startsWith('ledger.'))).toEqual([
      expect.objectContaining({
        type: 'ledger.rebuilt',
        actor: expect.objectContaining({ kind: 'operator', id: 'ops' }),
      }),
    ]);
  });
});
