import { LedgerPage, type LedgerRow, type StackFile } from '@sluice/contracts';
import type { Operator } from '../chaos/operator.ts';

const dollars = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(7)}`;

/**
 * Shows one request that failed over, from the ledger: who was tried, what it cost, what is billed. False when
 * there is none.
 */
export async function billAct(stack: StackFile, operator: Operator): Promise<boolean> {
  const { rows } = LedgerPage.parse(await operator.call('GET', '/api/ledger?outcome=ok&limit=500'));
  const row =
    rows.find(({ fallback, attempts }) => fallback && attempts.length > 1) ??
    rows.find(({ fallback }) => fallback) ??
    rows[0];
  if (row === undefined) return false;
  console.log(sentences(row).join('\n'));
  console.log(
    `  Its way through the stages: ${stack.services['control-plane'].url}/_console/requests/${row.request_id}`,
  );
  return true;
}

/** What the ledger's row of a request tells, in sentences. */
export function sentences(row: LedgerRow): string[] {
  return [
    `  ${row.request_id} of ${row.workspace} asked for ${row.model_requested}; it took ${Math.round(row.latency.total_ms)} ms, ${row.latency.overhead_us} µs of it ours before the first byte.`,
    ...row.attempts.map(
      (attempt) =>
        `  attempt ${attempt.index + 1}: ${attempt.provider}, ${attempt.outcome.replaceAll('_', ' ')}, ${attempt.usage.input + attempt.usage.output} tokens, costs us ${dollars(attempt.cost_nanousd)}`,
    ),
    ...(row.fallback && row.attempts.length === 1
      ? [`  The first provider was passed over: ${(row.fallback_reason ?? 'unknown').replaceAll('_', ' ')}.`]
      : []),
    `  One row, billed ${dollars(row.billed_nanousd)} by price book ${row.price_version}.`,
  ];
}
