import { Pool } from 'undici';
import { STEADY, type DemoTenant } from '../demo/tenant-traffic.ts';
import { countBy } from '../load/distribution.ts';
import { openLoop } from '../load/open-loop.ts';
import { recordedCall } from '../load/recorded-call.ts';
import type { CallResult } from '../load/send-call.ts';
import { runningStack, StackError } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { table } from '../stack/welcome.ts';

const SECONDS = 3;
const RATES: Readonly<Record<DemoTenant, number>> = { acme: 6, globex: 6, initech: 2 };

/**
 * Sends a few seconds of each demo tenant's traffic, so that consoles and ledger have something to show.
 *
 * @throws StackError when a call of a tenant within its limits did not end well.
 */
export async function seed(settings: StackSettings): Promise<number> {
  const stack = runningStack(settings.dataDir);
  const pool = new Pool(stack.services.gateway.url, { connections: 64 });
  try {
    const tenants = Object.keys(RATES) as DemoTenant[];
    const results = await Promise.all(
      tenants.map((tenant) => {
        const { workspace, call } = STEADY[tenant];
        const key = stack.keys[workspace] ?? '';
        return openLoop(RATES[tenant], SECONDS, (index) =>
          recordedCall(stackFiles(settings.dataDir).clients, workspace, pool, { key, ...call(index) }),
        );
      }),
    );
    console.log(table(tenants.map((tenant, i) => [tenant, describe(results[i] ?? [])])).join('\n'));
    const bad = results.flat().find((result) => result.outcome !== 'ok');
    if (bad !== undefined) {
      throw new StackError(
        `A call of the seed traffic ended as ${bad.outcome} (status ${bad.status}, ${bad.refusal ?? bad.requestId ?? 'no answer'}); \`make logs\` shows why.`,
      );
    }
    return 0;
  } finally {
    await pool.close();
  }
}

function describe(results: readonly CallResult[]): string {
  const counts = Object.entries(countBy(results, (result) => result.outcome)).map(
    ([outcome, count]) => `${count} ${outcome}`,
  );
  return `${results.length} calls: ${counts.join(', ')}`;
}
