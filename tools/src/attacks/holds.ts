import { setTimeout as delay } from 'node:timers/promises';
import { wants, wantsNo, type Attack } from './attack.ts';
import { asAttackers, atRate } from './attacker-client.ts';

/** Attacks that hold on to what they were given. */
export const HOLDS: readonly Attack[] = [
  {
    name: 'slow-readers',
    text: 'Every stream of two tenants is read a few bytes at a time.',
    run: (target) =>
      asAttackers(target, async (client) => {
        const readers = Array.from({ length: 40 }, () =>
          client.send({
            key: client.attacker.keys[0],
            stream: true,
            sim: { output_tokens: 2_000, ttft_ms: 5, chunk_ms: 1 },
            readEveryMs: 400,
          }),
        );
        await Promise.race([Promise.all(readers), delay(target.seconds * 1000)]);
      }),
    judge: (tally) => wantsNo(tally, 'internal_error'),
  },
  {
    name: 'hanging',
    text: 'Every call of two tenants hangs for 20 seconds, at a legal rate.',
    atLeastSeconds: 7,
    run: (target) =>
      atRate(target, 4, ({ attacker }) => ({ key: attacker.keys[0], sim: { ttft_ms: 20_000, output_tokens: 1 } })),
    // What bounds calls that stay is the bulkhead, never the rate.
    judge: (tally) => [...wants(tally, 'shed'), ...wantsNo(tally, 'throttled')],
  },
  {
    name: 'aborts',
    text: 'Two tenants hang up right after sending, or after the first token, again and again.',
    run: (target) =>
      atRate(target, 60, ({ attacker }, index) => ({
        key: attacker.keys[0],
        stream: true,
        sim: { ttft_ms: 30, chunk_ms: 10, output_tokens: 200 },
        abortAfterMs: index % 2 === 0 ? 5 : 60,
      })),
    judge: (tally) => [...wants(tally, 'cancelled'), ...wantsNo(tally, 'internal_error')],
  },
];
