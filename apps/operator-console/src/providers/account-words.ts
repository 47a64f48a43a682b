import type { OperatorState } from '@sluice/contracts';

type Pool = OperatorState['providers'][number]['pools'][number];

/** Whom a rest or refusal concerns, and how long: `for initech on sim-large, 12 s`. */
export function restInWords({ kind, status, tenant, model, until_ms: untilMs }: Pool['rests'][number], now: number) {
  const whom = tenant === undefined ? 'for all tenants' : `for ${tenant}`;
  const where = model === undefined ? '' : ` on ${model}`;
  const seconds = Math.max(0, Math.ceil((untilMs - now) / 1000));
  if (kind === 'limited') return `${whom}${where}, ${seconds} s`;
  const why = status === undefined ? 'its secret is missing' : String(status);
  return `${why}, ${whom}${where}, tried again ${seconds === 0 ? 'by the next call' : `in ${seconds} s`}`;
}

const FROM = { configured: 'as configured', told: 'by its headers', learned: 'learned from refusals' } as const;

/** A limit that is kept: `600 requests/min on sim-large, by its headers`. */
export function rateInWords({ from, model, ...limits }: Pool['rates'][number]): string {
  const parts = [
    ...(limits.requests_per_minute === undefined ? [] : [`${limits.requests_per_minute} requests/min`]),
    ...(limits.tokens_per_minute === undefined ? [] : [`${limits.tokens_per_minute} tokens/min`]),
  ];
  return `${parts.join(', ')}${model === undefined ? '' : ` on ${model}`}, ${FROM[from]}`;
}

/** `20 reserved from high up, 3 in use`. */
export function reservedInWords({ slots, priority, in_use: inUse }: NonNullable<Pool['reserved']>): string {
  return `${slots} reserved from ${priority} up, ${inUse} in use`;
}

/** Whose calls the account takes, where it does not take all; with the gateway that tells. */
export function accountUse({ tiers, gateway_id: gatewayId }: Pick<Pool, 'tiers' | 'gateway_id'>): string {
  return tiers === undefined ? gatewayId : `${gatewayId} · ${tiers.join(', ')} only`;
}
