import { createHash, randomUUID } from 'node:crypto';
import { SeedFile } from '@sluice/contracts';
import { demoSeed } from './demo-seed.ts';

/** Four workspaces and one override in each tenant, two keys in each workspace: what a large platform looks like. */
export function manyWorkspaces(count: number): SeedFile {
  const seed = demoSeed();
  const slugs = Array.from(
    { length: count },
    (_, i) => `customer-${Math.floor(i / 4)}-${['prod', 'staging', 'dev', 'test'][i % 4] ?? ''}`,
  );
  return SeedFile.parse({
    ...seed,
    tenants: [
      ...seed.tenants,
      ...Array.from({ length: Math.ceil(count / 4) }, (_, i) => ({
        id: `customer-${i}`,
        name: `Customer ${i}`,
        plan: i % 2 === 0 ? 'free' : 'enterprise',
        limits: limits(i),
      })),
    ],
    workspaces: [
      ...seed.workspaces,
      ...slugs.map((slug, i) => ({
        slug,
        uuid: randomUUID(),
        tenant: `customer-${Math.floor(i / 4)}`,
        ...(i % 4 === 0
          ? { override: { limits: limits(i), routing: { aliases: { fast: 'sim-small', best: 'sim-large' } } } }
          : {}),
      })),
    ],
    keys: [...seed.keys, ...slugs.flatMap((workspace, i) => [key(workspace, i, 'a'), key(workspace, i, 'b')])],
  });
}

function limits(i: number): object {
  return {
    requests: { perSecond: 10 + (i % 50), burst: 100 },
    tokens: { perMinute: 100_000 },
    concurrency: { inFlight: 10, queued: 10 },
    quotas: [
      {
        id: 'monthly-tokens',
        meter: 'total_tokens',
        span: { kind: 'calendar', period: 'month' },
        limit: 1_000_000 + i,
        mode: 'hard',
      },
    ],
  };
}

function key(workspace: string, i: number, suffix: string): SeedFile['keys'][number] {
  const keyId = `key${suffix}${String(i).padStart(8, '0')}`;
  const secret = createHash('sha256').update(keyId).digest('hex').slice(0, 40);
  return {
    keyId,
    key: `sk-sluice-${keyId}-${secret}`,
    workspace,
    name: `Key ${suffix}`,
    tags: { team: `team-${i % 20}` },
  };
}
