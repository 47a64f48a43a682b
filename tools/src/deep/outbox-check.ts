import { startFullStack } from '../e2e/full-stack.ts';
import type { DeepCheck } from './deep-check.ts';
import { LONG, OUTBOX_LOSSES, runLoss } from './outbox-losses.ts';

/** `OUTBOX_KILLS` and `OUTBOX_OUTAGE_S` change the length; `OUTBOX_LOSS=<words>` selects by name. */
export const outboxCheck: DeepCheck = {
  name: 'Outbox: whatever is killed, refused, full, set back, restarted or purged, every answered call is in the ledger once',
  async run({ env }) {
    const scale = {
      ...LONG,
      kills: Number(env['OUTBOX_KILLS'] ?? LONG.kills),
      outageMs: Number(env['OUTBOX_OUTAGE_S'] ?? LONG.outageMs / 1000) * 1000,
    };
    const chosen = OUTBOX_LOSSES.filter(({ name }) => name.includes(env['OUTBOX_LOSS'] ?? ''));
    if (chosen.length === 0)
      throw new RangeError(`OUTBOX_LOSS names none of the losses: ${OUTBOX_LOSSES.map(({ name }) => name).join('; ')}`);
    const stack = await startFullStack({ late: AbortSignal.timeout(300_000) });
    const faults: string[] = [];
    try {
      for (const loss of chosen) {
        console.log(`       ${loss.name}`);
        try {
          console.log(`       ok: ${await runLoss(loss, stack, scale, (line) => console.log(`         ${line}`))}`);
        } catch (error) {
          faults.push(`${loss.name}: ${error instanceof Error ? error.message : String(error)}`);
          console.log(`       FAIL: ${faults.at(-1)}`);
        }
      }
    } finally {
      await stack.stop();
    }
    if (faults.length > 0) throw new Error(faults.join('; '));
    return `${chosen.length} kinds of loss, figures above`;
  },
};
