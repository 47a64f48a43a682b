import { formatNanoUsd } from '@sluice/ui';

/** Billed money, or a dash for a role that may not see it. */
export function formatMoney(nanoUsd: number | null): string {
  return nanoUsd === null ? '–' : formatNanoUsd(nanoUsd);
}
