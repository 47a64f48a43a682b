import { SERVICE_TOKEN_ENV, TenantsAnswer } from '@sluice/contracts';
import { stackFiles, stackSettings, urlOf, type StackSettings } from '../stack/settings.ts';
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
  const tenants = await tenantLines(settings, its);
  if (tenants.length > 0) console.log(`\n${tenants.join('\n')}\n`);
  if (!supervised)
    console.log('The supervisor is gone: nothing restarts a part that dies. `make down` stops what is left.');
  return allWell ? 0 : 1;
}

/**
 * Difficulty and pressure of each tenant as the router sees them; nothing while it does not answer or has heard of
 * none.
 */
async function tenantLines(settings: StackSettings, its: StackSettings): Promise<string[]> {
  const token = loadOrCreateSecrets(stackFiles(settings.dataDir).secrets).tokens[SERVICE_TOKEN_ENV.callersToRouter];
  try {
    const answer = await fetch(`${urlOf(its, 'router')}/tenants`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(2_000),
    });
    const { tenants } = TenantsAnswer.parse(await answer.json());
    if (tenants.length === 0) return [];
    const rows = tenants
      .toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))
      .map(({ tenant, difficulty, pressure, calls }) => [
        tenant,
        difficulty.toFixed(3),
        pressure.toFixed(3),
        String(calls),
      ]);
    return table([['tenant', 'difficulty', 'pressure', 'calls'], ...rows]);
  } catch {
    return [];
  }
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7200
      ? `${Math.floor(seconds / 60)} min`
      : `${Math.floor(seconds / 3600)} h`;
}
