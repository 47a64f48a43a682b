import type { StackSettings } from '../stack/settings.ts';
import { removeData, stopStack } from '../stack/stop-stack.ts';

/** Stops the stack and removes what it wrote, or with KEEP=1 leaves data and secrets for the next `up`. */
export async function down(settings: StackSettings): Promise<number> {
  const stopped = await stopStack(settings.dataDir);
  const keep = settings.env['KEEP'] === '1';
  if (!keep) removeData(settings.dataDir);
  const what = stopped.length > 0 ? `Stopped ${stopped.join(', ')}.` : 'Nothing was running.';
  console.log(`${what} ${keep ? 'Data and demo secrets stay.' : 'No data is left.'}`);
  return 0;
}
