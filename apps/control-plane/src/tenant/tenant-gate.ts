import type { Clock } from '@sluice/contracts';
import { createPartyPlaces, createPartyRates, ProblemError } from '@sluice/service-kit';
import type { RouteCall } from '../api/route.ts';
import type { ConfigStore } from '../config/config-store.ts';

/** Calls of all people of a tenant, whatever backends and accounts they come by. */
const OF_TENANT = { perSecond: 100, burst: 300 };
/** Calls that use the database at once: of all tenants, and of one. */
const PLACES = 8;
const PLACES_OF_TENANT = 3;
const WAITING_OF_TENANT = 60;

/** Lets a person's call use the database when it is its tenant's turn; gives back what ends the turn. */
export type TenantGate = (call: Pick<RouteCall<unknown, unknown>, 'params' | 'principal'>) => Promise<() => void>;

/**
 * Shares the database among tenants: each has a rate, three of eight places, and turns among those that wait. A call of
 * no workspace, or of one that is not the person's, counts for the person alone.
 *
 * The gate's promise throws ProblemError 429 with `Retry-After` for a tenant that asks too much.
 */
export function createTenantGate({
  store,
  clock,
}: {
  store: ConfigStore;
  clock: Pick<Clock, 'monotonic'>;
}): TenantGate {
  const rates = createPartyRates({ clock, ...OF_TENANT });
  const places = createPartyPlaces({ places: PLACES, ofOne: PLACES_OF_TENANT, waitingOfOne: WAITING_OF_TENANT });

  function partyOf({ params, principal }: Parameters<TenantGate>[0]): string {
    const slug = params['slug'];
    const { workspaces } = store.snapshot();
    const own = slug !== undefined && principal !== undefined && Object.hasOwn(principal.roles, slug);
    const tenant = own && Object.hasOwn(workspaces, slug) ? workspaces[slug]?.tenant : undefined;
    return tenant === undefined ? `person ${principal?.userId ?? ''}` : `tenant ${tenant}`;
  }

  return async (call) => {
    const party = partyOf(call);
    const waitMs = rates.take(party);
    const leave = waitMs > 0 ? undefined : await places.enter(party);
    if (leave !== undefined) return leave;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    throw new ProblemError(429, 'Too many requests', {
      detail: `Your organization asks more than its share. Try again in ${seconds} s.`,
      headers: { 'retry-after': String(seconds) },
    });
  };
}
