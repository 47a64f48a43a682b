import { stackFiles, stackSettings, type StackSettings } from '../stack/settings.ts';
import { loadOrCreateSecrets } from '../stack/secrets.ts';
import { stackParts } from '../stack/stack-parts.ts';
import { table } from '../stack/welcome.ts';
import { isHealthy } from '../supervisor/health-check.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';

/** Prints the parts; 0 only when all run and answer. */
export async function status(settings: StackSettings): Promise<number> {
  const files = stackFiles(settings.dataDir);
  const state = readState(files.state);
  if (state === undefined) {
    console.log('No stack runs here. Start it with `make up`.');
    return 1;
  }
  const supervised = isAlive(state.supervisor);
  const its = stackSettings(settings.root, { ...settings.env, SLUICE_PORT_BASE: String(state.portBase) });
  const specs = stackParts(its, loadOrCreateSecrets(files.secrets));
  let allWell = supervised;
  const rows = await Promise.all(
    state.parts.map(async (part) => {
      const spec = specs.find((candidate) => candidate.name === part.name);
      const running = part.process !== undefined && isAlive(part.process);
      const healthy = running && spec !== undefined && (await isHealthy(spec.health));
      if (!healthy) allWell = false;
      const health = healthy ? 'healthy' : running ? 'does not answer' : part.state === 'ready' ? 'dead' : part.state;
      const up = running && part.startedAtMs !== undefined ? duration(Date.now() - part.startedAtMs) : '-';
      const note = part.restarts > 0 && part.lastExit !== undefined ? `last ended with ${part.lastExit}` : '';
      return [part.name, running ? String(part.process?.pid) : '-', part.url, health, String(part.restarts), up, note];
    }),
  );
  console.log(table([['part', 'pid', 'url', 'health', 'restarts', 'up', ''], ...rows]).join('\n'));
  if (!supervised) console.log('The supervisor is gone: nothing restarts a part that dies. `make down` stops what is left.');
  return allWell ? 0 : 1;
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}
