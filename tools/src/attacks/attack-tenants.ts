import { z } from 'zod';
import { request } from 'undici';
import type { StackFile } from '@sluice/contracts';
import { within } from '../chaos/chaos-step.ts';
import type { Operator } from '../chaos/operator.ts';
import { StackError } from '../stack/running-stack.ts';
import type { Attacker } from './attack.ts';

const Made = z.object({ keyId: z.string(), key: z.string() });

/** Two tenants of a running stack that exist for one attack. */
export interface AttackTenants {
  readonly attackers: readonly [Attacker, Attacker];
  /** Revokes their keys and deletes them with their workspaces. */
  remove(): Promise<void>;
}

/** How long a new key may take to be known to the gateway. */
const KNOWN_WITHIN_S = 15;

/**
 * Makes two tenants on the smallest plan, each with two workspaces, and waits until the gateway serves their keys.
 *
 * @param name what the tenants are called by; a tenant's id is given to nobody twice, so it also holds the time.
 */
export async function makeAttackTenants(
  { operator, stack }: { readonly operator: Operator; readonly stack: StackFile },
  name: string,
): Promise<AttackTenants> {
  const stamp = Date.now().toString(36);
  const undo: (() => Promise<unknown>)[] = [];
  const make = async (side: string): Promise<Attacker> => {
    const tenant = `attack-${name}-${stamp}-${side}`;
    await operator.call('PUT', `/api/tenants/${tenant}`, {
      name: `Attacker ${side.toUpperCase()} (${name})`,
      plan: 'free',
      limits: { quotas: [] },
    });
    undo.push(() => operator.call('DELETE', `/api/tenants/${tenant}`, undefined, { 'if-match': '*' }));
    const keys: string[] = [];
    for (const slug of [`${tenant}-1`, `${tenant}-2`]) {
      await operator.call('PUT', `/api/workspaces/${slug}`, { tenant });
      undo.push(() => operator.call('DELETE', `/api/workspaces/${slug}`, undefined, { 'if-match': '*' }));
      const { key, keyId } = Made.parse(
        await operator.call('POST', `/api/workspaces/${slug}/keys`, { name: 'attack' }),
      );
      undo.push(() => operator.call('DELETE', `/api/keys/${keyId}`));
      keys.push(key);
    }
    return { tenant, keys: keys as [string, ...string[]] };
  };
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const attackers = [await make('a'), await make('b')] as const;
    for (const key of attackers.flatMap(({ keys }) => keys)) {
      const known = await within(KNOWN_WITHIN_S, () => isKnown(stack.services.gateway.url, key));
      if (known === undefined) throw new StackError(`The gateway did not know a new key after ${KNOWN_WITHIN_S} s.`);
    }
    return { attackers, remove };
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
}

async function isKnown(url: string, key: string): Promise<boolean> {
  const { statusCode, body } = await request(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await body.dump();
  return statusCode === 200;
}
