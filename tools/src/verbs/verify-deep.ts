import { clockCheck } from '../deep/clock-check.ts';
import type { DeepCheck } from '../deep/deep-check.ts';
import { frontierCheck } from '../deep/frontier-check.ts';
import { fuzzCheck } from '../deep/fuzz-check.ts';
import { isolationCheck } from '../deep/isolation-check.ts';
import { ledgerScale } from '../deep/ledger-scale.ts';
import { outboxCheck } from '../deep/outbox-check.ts';
import { routerStatisticsCheck } from '../deep/router-statistics-check.ts';
import { runDeepChecks } from '../deep/run-deep-checks.ts';
import { terraformCheck } from '../deep/terraform-check.ts';
import { valkeyCluster } from '../deep/valkey-cluster.ts';
import type { StackSettings } from '../stack/settings.ts';
import { isRunning } from '../stack/running-stack.ts';
import { verify } from './verify.ts';

/** The long forms in the order in which they run; each stands in a file of `tools/src/deep`. */
const CHECKS: readonly DeepCheck[] = [
  {
    name: 'The running stack passes `make verify`',
    run: async (settings) => {
      if (!isRunning(settings.dataDir)) return { skipped: 'no stack runs here' };
      if ((await verify(settings)) !== 0) throw new Error('see its lines above');
      return 'see its lines above';
    },
  },
  ledgerScale,
  terraformCheck,
  outboxCheck,
  clockCheck,
  valkeyCluster,
  frontierCheck,
  routerStatisticsCheck,
  fuzzCheck,
  isolationCheck,
];

/**
 * The long versions of `verify`: minutes each. Words after the verb select checks by name: `make verify-deep
 * CHECK=terraform`.
 */
export function verifyDeep(settings: StackSettings, words: readonly string[]): Promise<number> {
  return runDeepChecks(CHECKS, settings, words, (line) => console.log(line));
}
