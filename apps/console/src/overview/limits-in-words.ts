import type { CustomerLimits } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import { dollars } from '../parts/money.tsx';

type Quota = CustomerLimits['quotas'][number];

/** Each limit as a sentence; `None.` when there is none. */
export function limitsInWords({ requests, tokens, concurrency, quotas }: CustomerLimits): string[] {
  const lines: string[] = [];
  if (requests !== null) {
    const rate =
      requests.per_second !== null
        ? `${requests.per_second} requests a second`
        : `${formatCount(requests.per_minute ?? 0)} requests a minute`;
    lines.push(`${rate}, ${formatCount(requests.burst)} at once after a pause`);
  }
  if (tokens !== null) lines.push(`${formatCount(tokens.per_minute)} tokens a minute`);
  if (concurrency !== null)
    lines.push(
      `${formatCount(concurrency.in_flight)} requests in progress at once${concurrency.queued > 0 ? `, of which ${formatCount(concurrency.queued)} may wait for a model` : ''}`,
    );
  for (const quota of quotas)
    lines.push(
      `${amountOf(quota.meter, quota.limit)} per ${quota.span}, then ${quota.mode === 'hard' ? 'calls are refused' : 'calls go on with a warning'}`,
    );
  return lines.length === 0 ? ['None.'] : lines;
}

const METERS: Readonly<Record<Quota['meter'], string>> = {
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  total_tokens: 'tokens',
  cost_nanousd: 'of cost',
};

/** An amount of what a quota counts: `20,000 output tokens`, `$50.00`. */
export function amountOf(meter: Quota['meter'], amount: number): string {
  return meter === 'cost_nanousd' ? dollars(amount) : `${formatCount(amount)} ${METERS[meter]}`;
}
