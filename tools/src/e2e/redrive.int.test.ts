import { z } from 'zod';
import { DeadLetterView, DlqState, RedriveAnswer } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { startFullStack, type FullStack } from './full-stack.ts';

const CHANGES = 6;
const POISON = 12;

let stack: FullStack;
beforeAll(async () => {
  stack = await startFullStack({ late: AbortSignal.timeout(150_000) });
}, 180_000);
afterAll(() => stack?.stop(), 90_000);

const depth = async (queue: string) =>
  DlqState.array()
    .parse(await stack.api('GET', '/api/dlqs'))
    .find((state) => state.queue === queue)?.depth;
const letters = async (queue: string) =>
  z.object({ messages: z.array(DeadLetterView) }).parse(await stack.api('GET', `/api/dlqs/${queue}/messages?limit=100`))
    .messages;
const redrive = async (queue: string) => RedriveAnswer.parse(await stack.api('POST', `/api/dlqs/${queue}/redrive`));
const logged = async (prefix: string) => {
  const page = z.object({ rows: z.array(z.object({ event_id: z.string(), target: z.object({ id: z.string() }) })) });
  return page
    .parse(await stack.api('GET', '/api/audit?action=kill_switch.set&limit=500'))
    .rows.filter((row) => row.target.id.startsWith(prefix));
};
const change = (id: string) =>
  stack.api('PUT', `/api/kill-switches/${id}`, { id, scope: 'feature', target: id, message: 'A test.' });

describe('redrive on a running stack', () => {
  it('a broken audit consumer fills its dead letters within 15 s; mended and redriven, every record is in the log exactly once', async () => {
    await stack.api('POST', '/api/chaos/consumer', { consumer: 'audit', broken: true, seconds: 120 });
    for (let n = 0; n < CHANGES; n += 1) await change(`redriven-${n}`);
    await eventually(async () => expect(await depth('audit')).toBeGreaterThanOrEqual(CHANGES));
    expect(await logged('redriven-')).toEqual([]);
    expect((await letters('audit')).map((letter) => letter.reason)).toEqual(
      expect.arrayContaining(['the consumer is broken on purpose']),
    );
    await stack.api('POST', '/api/chaos/stop');
    expect((await redrive('audit')).moved).toBeGreaterThanOrEqual(CHANGES);
    await eventually(
      async () => {
        expect(await depth('audit')).toBe(0);
        expect(await logged('redriven-')).toHaveLength(CHANGES);
      },
      { timeoutMs: 20_000 },
    );
    expect(new Set((await logged('redriven-')).map((row) => row.event_id)).size).toBe(CHANGES);
  }, 90_000);

  it('poison of every kind returns to the dead letters after a redrive, while good records pass', async () => {
    await stack.api('POST', '/api/chaos/poison', { queue: 'audit', count: POISON });
    await change('beside-poison');
    await eventually(async () => expect(await depth('audit')).toBe(POISON));
    expect(await redrive('audit')).toMatchObject({ moved: POISON, refused: 0, finished: true });
    await change('beside-poison-again');
    await eventually(async () => expect(await logged('beside-poison')).toHaveLength(2));
    await eventually(async () => expect(await depth('audit')).toBe(POISON));
    const found = await letters('audit');
    expect(found.filter((letter) => letter.reason === null)).toEqual([]);
    await stack.api('POST', '/api/dlqs/audit/discard', { message_ids: found.map((letter) => letter.message_id) });
    expect(await depth('audit')).toBe(0);
  }, 90_000);
});
