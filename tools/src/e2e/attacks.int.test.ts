import { ATTACKS } from '../attacks/attacks.ts';
import type { Attacker } from '../attacks/attack.ts';
import { runAttack } from '../attacks/run-attack.ts';
import { keyOf, type FixtureWorkspace } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

/** What a free plan allows. */
const SMALL = {
  requests: { perSecond: 5, burst: 10 },
  concurrency: { inFlight: 6, queued: 4 },
  tokens: { perMinute: 60_000, burst: 60_000 },
} as const;

const workspaces = (tenant: string): FixtureWorkspace[] =>
  ['one', 'two', 'three'].map((name) => ({ tenant, slug: `${tenant}-${name}`, tenantLimits: SMALL }));

const attacker = (tenant: string): Attacker => ({
  tenant,
  keys: [keyOf(`${tenant}-one`), keyOf(`${tenant}-two`), keyOf(`${tenant}-three`)],
});

/** Each attack has tenants of its own, so that none begins with what the one before has left of its limits. */
const tenantsOf = (name: string): [string, string] => [`m${name.replaceAll('-', '')}`, `t${name.replaceAll('-', '')}`];

let stack: GatewayStack;
beforeAll(async () => {
  stack = await startGatewayStack({
    workspaces: [
      { tenant: 'healthy', slug: 'healthy-prod' },
      { tenant: 'modest', slug: 'modest-prod' },
      ...ATTACKS.flatMap(({ name }) => tenantsOf(name).flatMap(workspaces)),
    ],
  });
}, 60_000);
afterAll(() => stack.stop());

/** The short form; `make chaos` has the long one. */
const SECONDS = 3;
const SCALE = 0.2;

describe('two tenants attack, and their neighbours are served as if nobody did', () => {
  it.each(ATTACKS)(
    '$text',
    async (attack) => {
      const [first, second] = tenantsOf(attack.name);
      const verdict = await runAttack(
        attack,
        { url: stack.url, attackers: [attacker(first), attacker(second)], seconds: SECONDS, scale: SCALE },
        [
          { tenant: 'healthy', key: keyOf('healthy-prod'), perSecond: 6 },
          { tenant: 'modest', key: keyOf('modest-prod'), perSecond: 2 },
        ],
        0.5,
      );
      expect(verdict.complaints).toEqual([]);
    },
    90_000,
  );
});
