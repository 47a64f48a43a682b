import { Pool } from 'undici';
import type { StackFile } from '@sluice/contracts';
import { openLoop } from '../load/open-loop.ts';
import { recordedCall } from '../load/recorded-call.ts';
import type { CallResult } from '../load/send-call.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { table } from '../stack/welcome.ts';
import { judgeNeighbour, summarise, type TenantRun } from './noisy-neighbour.ts';
import { FLOOD, STEADY, type TrafficShape } from './tenant-traffic.ts';

const BEFORE_S = 8;
const FLOOD_S = 20;
const ACME_RPS = 8;
const GLOBEX_RPS = 6;
const FLOOD_RPS = 120;

/** Floods one tenant and prints what the others notice; the complaints, empty when they notice nothing. */
export async function neighbourAct(settings: StackSettings, stack: StackFile): Promise<string[]> {
  // A pool of its own for each tenant, so that the load driver itself keeps them apart.
  const pools = new Map<string, Pool>();
  const drive = (shape: TrafficShape, rate: number, seconds: number): Promise<CallResult[]> => {
    const pool = pools.get(shape.workspace) ?? new Pool(stack.services.gateway.url, { connections: 256 });
    pools.set(shape.workspace, pool);
    const key = stack.keys[shape.workspace] ?? '';
    return openLoop(rate, seconds, (index) =>
      recordedCall(stackFiles(settings.dataDir).clients, shape.workspace, pool, { key, ...shape.call(index) }),
    );
  };

  console.log(`acme sends ${ACME_RPS} requests/s (about 250 tokens each), globex ${GLOBEX_RPS} (about 20 tokens).`);
  console.log(
    `After ${BEFORE_S} s initech floods at ${FLOOD_RPS} requests/s for ${FLOOD_S} s; its plan allows 5 requests/s and 10 in flight.`,
  );
  let floodStartedMs = Infinity;
  try {
    const total = BEFORE_S + FLOOD_S;
    const [acme, globex, initech] = await Promise.all([
      drive(STEADY.acme, ACME_RPS, total),
      drive(STEADY.globex, GLOBEX_RPS, total),
      new Promise<void>((resolve) => setTimeout(resolve, BEFORE_S * 1000)).then(() => {
        floodStartedMs = performance.now();
        return drive(FLOOD, FLOOD_RPS, FLOOD_S);
      }),
    ]);
    const runs: TenantRun[] = [
      { tenant: 'acme', results: acme },
      { tenant: 'globex', results: globex },
      { tenant: 'initech (floods)', results: initech },
    ];
    console.log('');
    console.log(table(summarise(runs, floodStartedMs)).join('\n'));
    console.log('\nqueue ms is the wait for provider capacity as the gateway measured it: p50 / p99 / max.');
    const complaints = [acme, globex].flatMap((results, i) =>
      judgeNeighbour(['acme', 'globex'][i] ?? '', results, floodStartedMs),
    );
    const flooderHeld = initech.some((result) => result.outcome === 'shed' || result.outcome === 'throttled');
    if (!flooderHeld) complaints.push('initech was neither shed nor throttled: the flood was not held back');
    console.log(
      complaints.length === 0
        ? '\nThe neighbours were untouched: nothing shed, nothing throttled, no error, no longer wait for provider capacity (p99 within the noise of this machine).'
        : `\nNOT untouched:\n  ${complaints.join('\n  ')}`,
    );
    return complaints;
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
  }
}
