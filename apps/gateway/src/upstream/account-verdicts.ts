import type { UpstreamFault } from '@sluice/contracts';
import type { AccountScope, AccountUse } from '@sluice/resilience';
import type { CredentialCapacity } from './capacity.ts';
import type { AccountInUse } from './account-in-use.ts';
import type { SecretResolver } from './secrets.ts';

export interface AccountDeps {
  readonly secrets: SecretResolver;
  /** A provider refuses an account, or its secret is missing: told once when that begins and once when it is over. */
  readonly onAccount: (change: AccountChange) => void;
}

export interface AccountChange {
  readonly to: 'refused' | 'accepted';
  readonly provider: string;
  readonly credential: string;
  /** Where only calls of one tenant, or for one model, are refused. */
  readonly tenant?: string;
  readonly model?: string;
  readonly requestId: string;
  /** Of a refusal; undefined when the secret is missing. */
  readonly status: number | undefined;
}

/** What a fault says about the account that was used. */
export function noteAccount(deps: AccountDeps, used: AccountInUse, fault: UpstreamFault): void {
  const { capacity, use } = used;
  switch (fault.kind) {
    case 'account':
      if (capacity.credential.secret !== undefined) deps.secrets.forget(capacity.credential.secret);
      tell(deps, used, 'refused', refusedBy(used, fault), fault.status);
      return;
    case 'rate_limited':
      tell(deps, used, 'accepted', noteLimit(used, fault));
      return;
    case 'caller':
    case 'context_window':
    case 'model_unknown':
      tell(deps, used, 'accepted', capacity.account.accepted(use));
      return;
    default:
      capacity.account.inconclusive(use);
  }
}

function refusedBy({ capacity: { account }, use }: AccountInUse, { status, reach }: UpstreamFault) {
  return reach === 'account' ? account.refused(use, status, true) : account.refused(use, status);
}

/** A limit of the provider's, also one that it told within an answer. @returns the refusal that this ends, if any. */
export function noteLimit(
  {
    capacity: { account, rates },
    use,
  }: { readonly capacity: Pick<CredentialCapacity, 'account' | 'rates'>; readonly use: AccountUse },
  { retryAfterMs, reach }: UpstreamFault,
): AccountScope | undefined {
  const { forAll, othersServed, ended } = account.rateLimited(use, { retryAfterMs, reach: reach ?? 'caller' });
  if (othersServed) rates.unlimited(use.model);
  else if (forAll) rates.limited(use.model);
  return ended;
}

/** The account cannot be used before its secret is there; people hear of it once. */
export function secretMissing(deps: AccountDeps, used: AccountInUse): void {
  tell(deps, used, 'refused', used.capacity.account.secretMissing(used.use));
}

/** The provider served a call by this account; where that ends a refusal, people hear of it. */
export function accountServed(deps: AccountDeps, used: AccountInUse): void {
  const { capacity, use } = used;
  capacity.rates.served(use.model);
  tell(deps, used, 'accepted', capacity.account.served(use));
}

function tell(
  deps: AccountDeps,
  { requestId, capacity: { provider, credential } }: AccountInUse,
  to: AccountChange['to'],
  scope: AccountScope | undefined,
  status?: number,
): void {
  if (scope === undefined) return;
  const { tenantId, model } = scope;
  deps.onAccount({
    to,
    provider,
    credential: credential.id,
    ...(tenantId === undefined ? {} : { tenant: tenantId }),
    ...(model === undefined ? {} : { model }),
    requestId,
    status,
  });
}
