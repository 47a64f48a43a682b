import type { OperatorState } from '@sluice/contracts';

type Breaker = OperatorState['providers'][number]['breakers'][number];

export const BREAKER_STATE = {
  closed: { tone: 'good', word: 'closed' },
  partly_open: { tone: 'warn', word: 'partly open' },
  half_open: { tone: 'warn', word: 'half open' },
  open: { tone: 'bad', word: 'open' },
} as const;

/** For whom a breaker is open: `for 14 of 14 tenants`, `for initech only`; empty while it is closed. */
export function reachOf({ state, tenants, tenants_open: open, open_for: names }: Breaker): string {
  if (state === 'closed') return '';
  if (tenants === 0) return 'by active probes';
  if (open === 1 && names.length === 1) return `for ${names.join()} only`;
  const listed = open > 0 && names.length === open && open < tenants ? `: ${names.join(', ')}` : '';
  return `for ${open} of ${tenants} tenants${listed}`;
}
