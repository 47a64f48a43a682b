import type { OutgoingEvent } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { createEventQueue } from './event-queue.ts';

const event = (n: number): OutgoingEvent => ({ id: `e${n}`, topic: 'anomaly-events', body: '{}', attributes: {} });

function spine() {
  const state = { down: false, refuse: new Set<string>(), taken: [] as string[] };
  return {
    state,
    publisher: {
      publish: async (events: readonly OutgoingEvent[]) => {
        if (state.down) throw new Error('down');
        const refused = events.filter(({ id }) => state.refuse.has(id)).map(({ id }) => id);
        state.taken.push(...events.map(({ id }) => id).filter((id) => !refused.includes(id)));
        return refused;
      },
      close: async () => undefined,
    },
  };
}

describe('the queue of events that are not usage', () => {
  it('takes events at once and sends them in order', async () => {
    const { state, publisher } = spine();
    const queue = createEventQueue({ publisher });
    expect(await queue.publish([event(1), event(2)])).toEqual([]);
    expect(await queue.publish([event(3)])).toEqual([]);
    await eventually(() => expect(state.taken).toEqual(['e1', 'e2', 'e3']));
    expect(queue.dropped).toBe(0);
  });

  it('in an outage keeps so many, drops and counts the rest, and sends what it kept when the spine is back', async () => {
    const { state, publisher } = spine();
    state.down = true;
    const queue = createEventQueue({ publisher, maxWaiting: 3, retryMs: 1 });
    expect(await queue.publish([1, 2, 3, 4, 5].map(event))).toEqual(['e4', 'e5']);
    expect(await queue.publish([event(6)])).toEqual(['e6']);
    expect(queue.dropped).toBe(3);
    state.down = false;
    await eventually(() => expect(state.taken).toEqual(['e1', 'e2', 'e3']));
    expect(queue.waiting).toBe(0);
  });

  it('sends again only what was refused', async () => {
    const { state, publisher } = spine();
    state.refuse.add('e2');
    const queue = createEventQueue({ publisher, retryMs: 1 });
    await queue.publish([1, 2, 3].map(event));
    await eventually(() => expect(state.taken).toEqual(['e1', 'e3']));
    state.refuse.clear();
    await eventually(() => expect(state.taken).toEqual(['e1', 'e3', 'e2']));
  });

  it('at its end counts what it could not send', async () => {
    const { state, publisher } = spine();
    state.down = true;
    const queue = createEventQueue({ publisher, retryMs: 60_000 });
    await queue.publish([event(1), event(2)]);
    await queue.close();
    expect(queue.dropped).toBe(2);
  });
});
