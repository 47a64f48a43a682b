import { setTimeout as delay } from 'node:timers/promises';
import { wants, wantsNo, type Attack } from './attack.ts';
import { asAttackers, atRate } from './attacker-client.ts';

/** Of the plan that attackers have, requests a second. */
const LIMIT_PER_SECOND = 5;
const SHORT = { output_tokens: 5, ttft_ms: 5, chunk_ms: 1 };

/** Attacks by number: of calls, of connections, of keys. */
export const FLOODS: readonly Attack[] = [
  {
    name: 'forty-times',
    text: `Two tenants send 40 times what their limit of ${LIMIT_PER_SECOND} a second allows.`,
    run: (target) =>
      atRate(target, LIMIT_PER_SECOND * 40 * target.scale, ({ attacker }) => ({ key: attacker.keys[0], sim: SHORT })),
    judge: (tally) => [...wants(tally, 'throttled'), ...wantsNo(tally, 'internal_error')],
  },
  {
    name: 'at-once',
    text: '10,000 requests arrive in the same instant.',
    run: (target) =>
      asAttackers(
        target,
        (client) =>
          Promise.all(
            Array.from({ length: 5_000 * target.scale }, () =>
              client.send({ key: client.attacker.keys[0], sim: SHORT }),
            ),
          ),
        2_000 * target.scale,
      ),
    judge: (tally) => [...wants(tally, 'throttled'), ...wantsNo(tally, 'internal_error')],
  },
  {
    name: 'own-connections',
    text: 'Each call opens a connection of its own, 300 a second.',
    run: (target) =>
      atRate(target, 150, ({ attacker }) => ({ key: attacker.keys[0], sim: SHORT, ownConnection: true })),
    judge: (tally) => wants(tally, 'throttled'),
  },
  {
    name: 'many-keys',
    text: 'Two tenants spread a flood over all of their keys and workspaces.',
    run: (target) =>
      atRate(target, 100 * target.scale, ({ attacker }, index) => ({
        key: attacker.keys[index % attacker.keys.length] ?? attacker.keys[0],
        sim: SHORT,
      })),
    judge: (tally, { seconds }) => {
      const most = 2 * (10 + LIMIT_PER_SECOND * (seconds + 2));
      const served = tally.ok ?? 0;
      return [
        ...wants(tally, 'throttled'),
        ...(served > most
          ? [`${served} calls were served, and two tenants may have ${most} however many keys they have`]
          : []),
      ];
    },
  },
  {
    name: 'retry-storm',
    text: 'Whoever is refused comes back at once, whatever the answer says of waiting.',
    run: (target) =>
      asAttackers(target, async (client) => {
        const endMs = performance.now() + target.seconds * 1000;
        const insist = async (): Promise<void> => {
          while (performance.now() < endMs) {
            await client.send({ key: client.attacker.keys[0], sim: SHORT });
            await delay(2);
          }
        };
        await Promise.all(Array.from({ length: 32 }, insist));
      }),
    judge: (tally) => wants(tally, 'throttled'),
  },
  {
    name: 'wrong-keys',
    text: '1,000 calls a second come with keys that nobody was given.',
    run: (target) =>
      atRate(target, 500 * target.scale, (_, index) => ({
        key: `sk-sluice-nobody${String(index % 10_000).padStart(6, '0')}-${'guess'.repeat(6)}`,
      })),
    judge: (tally) => [...wants(tally, 'unauthenticated'), ...wantsNo(tally, 'ok')],
  },
];
