import { wants, wantsNo, type Attack } from './attack.ts';
import { atRate } from './attacker-client.ts';

const ABSURD = 1_000_000_000;
const AT_ONCE = { ttft_ms: 5, chunk_ms: 1 };

/** What the provider answers the attackers with, in turn. */
const POISONS: readonly object[] = [
  { fail: { status: 429, retry_after_s: 30 } },
  { fail: { status: 403 } },
  { fail: { status: 500 } },
  { ...AT_ONCE, output_tokens: 2, usage: { input: ABSURD, output: ABSURD } },
];

/** Attacks by what is said: to us, or by the provider about the attackers. */
export const LIES: readonly Attack[] = [
  {
    name: 'max-tokens',
    text: 'Two tenants ask for 100,000 tokens and take five, or name no bound and take thousands.',
    run: (target) =>
      atRate(target, 10, ({ attacker }, index) =>
        index % 2 === 0
          ? { key: attacker.keys[0], maxTokens: 100_000, sim: { ...AT_ONCE, output_tokens: 5 } }
          : { key: attacker.keys[0], sim: { ttft_ms: 5, chunk_ms: 0, output_tokens: 4_000 } },
      ),
    judge: (tally) => wantsNo(tally, 'internal_error'),
  },
  {
    name: 'poison',
    text: 'At accounts that all share, two tenants meet 429, 403, 500 and absurd usage with everything they send.',
    run: (target) =>
      atRate(target, 4.5, ({ attacker }, index) => ({
        key: attacker.keys[0],
        sim: POISONS[index % POISONS.length] ?? {},
      })),
    judge: (tally) => [...wantsNo(tally, 'internal_error'), ...wants(tally, 'upstream_error')],
  },
];
