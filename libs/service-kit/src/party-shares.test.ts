import { createFakeClock } from '@sluice/testing';
import { createPartyPlaces } from './party-places.ts';
import { createPartyRates } from './party-rates.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('rates of parties', () => {
  const start = () => {
    const clock = createFakeClock(0);
    return { clock, rates: createPartyRates({ clock, perSecond: 10, burst: 20, kept: 3 }) };
  };

  it('stop two that take too much and never the third', () => {
    const { clock, rates } = start();
    let served = 0;
    for (let ms = 0; ms < 10_000; ms += 5) {
      for (const party of ['mallory', 'mallet']) if (rates.take(party) === 0) served += 1;
      if (ms % 200 === 0) expect(rates.take('ada')).toBe(0);
      clock.advance(5);
    }
    expect(served).toBeLessThanOrEqual(2 * (20 + 100));
  });

  it('say exactly how long to wait', () => {
    const { clock, rates } = start();
    for (let n = 0; n < 20; n += 1) rates.take('ada');
    const waitMs = rates.take('ada');
    expect(waitMs).toBe(100);
    clock.advance(waitMs - 1);
    expect(rates.waitMs('ada')).toBeGreaterThan(0);
    clock.advance(1);
    expect(rates.take('ada')).toBe(0);
  });

  it('let more than the burst through as a debt, so that a large request is not refused for ever', () => {
    const { clock, rates } = start();
    expect(rates.take('ada', 50)).toBe(0);
    expect(rates.take('ada')).toBe(3_100);
    clock.advance(3_100);
    expect(rates.take('ada')).toBe(0);
  });
});

describe('places of parties', () => {
  it('go round: a third party never waits behind the queues of two others', async () => {
    const places = createPartyPlaces({ places: 2, ofOne: 2, waitingOfOne: 10 });
    const leaves: (() => void)[] = [];
    const order: string[] = [];
    const enter = (party: string) =>
      void places.enter(party).then((leave) => {
        order.push(leave === undefined ? `${party} refused` : party);
        if (leave !== undefined) leaves.push(leave);
      });
    for (let n = 0; n < 15; n += 1) for (const party of ['mallory', 'mallet']) enter(party);
    enter('ada');
    await turn();
    for (let n = 0; n < 3; n += 1) {
      leaves.shift()?.();
      await turn();
    }
    expect(order.indexOf('ada')).toBeGreaterThan(-1);
    expect(order.filter((one) => one === 'mallory refused').length).toBeGreaterThanOrEqual(4);
    for (let leave = leaves.shift(); leave !== undefined; leave = leaves.shift()) {
      leave();
      leave();
      await turn();
    }
    expect(places.load).toEqual({ taken: 0, waiting: 0 });
  });

  it('are not all one party’s, however many are free', async () => {
    const places = createPartyPlaces({ places: 4, ofOne: 2, waitingOfOne: 10 });
    for (let n = 0; n < 4; n += 1) void places.enter('mallory');
    await turn();
    expect(places.load).toEqual({ taken: 2, waiting: 2 });
    expect(await places.enter('ada')).toBeDefined();
  });
});
