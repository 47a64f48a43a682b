import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createPasswordChecks, type From, type PasswordChecks } from './password-checks.ts';

const CHECK_MS = 250;
const STEP_MS = 10;
const HASH = 'hash of: right';

let clock: FakeClock;
let checks: PasswordChecks;
/** Passwords that were hashed, which is what an attack costs. */
let hashed: number;
let checkMs: number;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 0, 1));
  hashed = 0;
  checkMs = CHECK_MS;
  checks = createPasswordChecks({
    clock,
    deviceKey: 'key of devices',
    timers: {
      setTimeout: (run, ms) => clock.setTimeout(run, ms),
      clearTimeout: (timer) => clock.clearTimeout(timer as never),
    },
    verify: async (password, hash) => {
      hashed += 1;
      await new Promise<void>((done) => clock.setTimeout(done, checkMs));
      return hash === `hash of: ${password}`;
    },
  });
});

interface Outcome {
  readonly answer: boolean | number;
  readonly tookMs: number;
}

/** An attempt at an account that exists unless told. */
async function attempt(account: string, password: string, from: From, exists = true): Promise<Outcome> {
  const cameMs = clock.monotonic();
  const answer = await checks
    .check(account, { password, hash: exists ? HASH : undefined, from })
    .catch((error: unknown) => (error as { status: number }).status);
  return { answer, tookMs: clock.monotonic() - cameMs };
}

/** Lets time pass in small steps, with `each` called every 20 ms: fifty times a second. */
async function pass(ms: number, each?: (n: number) => void): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    if (passed % 20 === 0) each?.(passed / 20);
    clock.advance(STEP_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function alone(work: Promise<Outcome>): Promise<Outcome> {
  let outcome: Outcome | undefined;
  void work.then((done) => (outcome = done));
  while (outcome === undefined) await pass(STEP_MS);
  return outcome;
}

/** A right password ten seconds into an attack of fifty guesses a second by two attackers. */
async function duringAttack(guess: (n: number) => Promise<unknown>, owner: () => Promise<Outcome>): Promise<Outcome> {
  // Not at a moment when a check ends anyway.
  await pass(10_130, (n) => void guess(n));
  const asked = owner();
  let outcome: Outcome | undefined;
  void asked.then((done) => (outcome = done));
  await pass(4_000, (n) => void guess(1_000 + n));
  if (outcome === undefined) throw new Error('no answer within four seconds');
  return outcome;
}

const ONE = { address: '198.51.100.1' };
const OTHER = { address: '198.51.100.2' };
const two = (n: number): From => (n % 2 === 0 ? ONE : OTHER);
const many = (n: number): From => ({ address: `203.0.${Math.floor(n / 250)}.${n % 250}` });
const OWNER = { address: '192.0.2.7' };

describe('a right password during fifty guesses a second', () => {
  const guesses: [string, (n: number) => Promise<unknown>][] = [
    ['at random addresses without accounts, from two addresses', (n) => attempt(`nobody-${n}`, 'x', two(n), false)],
    ['at random addresses without accounts, from many', (n) => attempt(`nobody-${n}`, 'x', many(n), false)],
    ['at other accounts, from two addresses', (n) => attempt(`account-${n % 40}`, 'x', two(n))],
    ['at the owner’s account, from two addresses', (n) => attempt('ada', 'x', two(n))],
  ];
  it.each(guesses)('%s, is answered within two seconds on a new device', async (_what, guess) => {
    const { answer, tookMs } = await duringAttack(guess, () => attempt('ada', 'right', OWNER));
    expect([answer, tookMs <= 2_000]).toEqual([true, true]);
  });

  it.each([
    ...guesses,
    ['at the owner’s account, from many', (n: number) => attempt('ada', 'x', many(n))] as const,
    ['at other accounts, from many', (n: number) => attempt(`account-${n}`, 'x', many(n))] as const,
  ])('%s, is answered at once on a device that has signed in before', async (_what, guess) => {
    const device = checks.deviceToken('ada');
    const { answer, tookMs } = await duringAttack(guess, () => attempt('ada', 'right', { ...OWNER, device }));
    expect([answer, tookMs <= CHECK_MS + 2 * STEP_MS]).toEqual([true, true]);
  });

  it('is answered within two seconds from an address that has signed in before, while many guess at the account', async () => {
    expect(await alone(attempt('ada', 'right', OWNER))).toMatchObject({ answer: true });
    const { answer, tookMs } = await duringAttack(
      (n) => attempt('ada', 'x', many(n)),
      () => attempt('ada', 'right', OWNER),
    );
    expect([answer, tookMs <= 2_000]).toEqual([true, true]);
  });

  it('comes from the address of the attack, at an account that is not attacked', async () => {
    const { answer, tookMs } = await duringAttack(
      (n) => attempt(`account-${n % 40}`, 'x', ONE),
      () => attempt('ada', 'right', ONE),
    );
    expect([answer, tookMs <= 2_000]).toEqual([true, true]);
  });
});

describe('guessing', () => {
  it('gets no more than a guess a second at one account from strangers, however many come at once', async () => {
    await pass(20_000, (n) => void attempt('ada', 'x', many(n)));
    expect(hashed).toBeLessThanOrEqual(21);
  });

  it('with the proof of another account, an old one or a changed one is guessing as a stranger', async () => {
    const foreign = checks.deviceToken('mallory');
    const own = checks.deviceToken('ada');
    const changed = `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`;
    for (const device of [foreign, changed, 'nonsense']) {
      const { answer, tookMs } = await duringAttack(
        (n) => attempt('ada', 'x', many(n)),
        () => attempt('ada', 'right', { address: '203.0.113.9', device }),
      );
      expect([device, answer === true && tookMs <= 1_000]).toEqual([device, false]);
    }
  });

  it('with a stolen proof stops being believed after ten failures, and the owner’s own device passes', async () => {
    const [stolen, own] = [checks.deviceToken('ada'), checks.deviceToken('ada')];
    for (let n = 0; n < 12; n += 1) await alone(attempt('ada', 'x', { ...ONE, device: stolen }));
    const { answer, tookMs } = await duringAttack(
      () => attempt('ada', 'x', { ...ONE, device: stolen }),
      () => attempt('ada', 'right', { ...OWNER, device: own }),
    );
    expect([answer, tookMs <= CHECK_MS + 2 * STEP_MS]).toEqual([true, true]);
    const before = hashed;
    await pass(10_000, () => void attempt('ada', 'x', { ...ONE, device: stolen }));
    expect(hashed - before).toBeLessThanOrEqual(11);
  });

  it('learns nothing of which accounts exist from the answer’s time, alone or under load', async () => {
    for (const exists of [true, false]) await alone(attempt('warm', 'x', ONE, exists));
    const [known, unknown] = [
      await alone(attempt('known', 'x', ONE)),
      await alone(attempt('unknown', 'x', ONE, false)),
    ];
    expect(unknown).toEqual(known);
    const under = (exists: boolean) =>
      duringAttack(
        (n) => attempt(`account-${n % 40}`, 'x', two(n)),
        () => attempt(`tried-${exists}`, 'x', OWNER, exists),
      );
    const [knownUnder, unknownUnder] = [await under(true), await under(false)];
    expect([unknownUnder.answer, knownUnder.answer]).toEqual([false, false]);
    expect([unknownUnder.tookMs % 1_000, knownUnder.tookMs % 1_000]).toEqual([0, 0]);
  });

  it('learns nothing of it on a slow machine either, where a check takes longer than a second', async () => {
    checkMs = 1_900;
    for (let n = 0; n < 20; n += 1) await alone(attempt('warm', 'x', ONE));
    const known = await alone(attempt('known', 'x', OTHER));
    expect(await alone(attempt('unknown', 'x', OTHER, false))).toEqual(known);
  });

  it('is refused with a time to wait when an address asks for more than its share, and holds no memory after', async () => {
    const outcomes: Outcome[] = [];
    for (let n = 0; n < 3_000; n += 1)
      void attempt(`nobody-${n}`, 'x', ONE, false).then((outcome) => outcomes.push(outcome));
    const neighbour = alone(attempt('ada', 'right', OWNER));
    expect(await neighbour).toMatchObject({ answer: true });
    await pass(5_000);
    expect(outcomes.filter(({ answer }) => answer === 429).length).toBeGreaterThanOrEqual(1_900);
    expect([outcomes.length, clock.pendingTimers()]).toEqual([3_000, 0]);
  });
});
