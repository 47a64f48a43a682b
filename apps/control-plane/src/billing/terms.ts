import type { Plan, Tenant } from '@sluice/contracts';
import type { RowAt } from '../config/config-history.ts';

/** What a plan asks and gives for a month. */
export interface Terms {
  readonly plan: string;
  readonly planName: string;
  readonly feeNanoUsd: number;
  readonly allotmentTokens: number;
  /** Picodollars for a token above the allotment; undefined where none are sold. */
  readonly overagePicoUsd: number | undefined;
}

/** A stretch of time with the same terms, epoch milliseconds, `toMs` exclusive. */
export interface TermsSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly terms: Terms;
}

export function termsOf(plan: Plan): Terms {
  return {
    plan: plan.id,
    planName: plan.displayName,
    feeNanoUsd: plan.allotment.feeNanoUsd,
    allotmentTokens: plan.allotment.totalTokens,
    overagePicoUsd: plan.allotment.overage?.picoUsdPerToken,
  };
}

/**
 * The terms of a tenant within [fromMs, toMs), as the configuration had them at each instant. Neighbours with the
 * same terms are one span.
 *
 * @param tenantRows, planRows every version of the tenant and of each plan it was on, oldest first.
 * @param startMs since when the tenant is billed. The first known terms hold from there on, so that calls of before
 * are not without terms.
 */
export function termsWithin(
  tenantRows: readonly RowAt[],
  planRows: ReadonlyMap<string, readonly RowAt[]>,
  startMs: number,
  fromMs: number,
  toMs: number,
): TermsSpan[] {
  const begin = Math.max(fromMs, startMs);
  const instants = [...tenantRows, ...[...planRows.values()].flat()].map(({ atMs }) => atMs);
  const edges = [...new Set([begin, ...instants.filter((at) => at > begin && at < toMs)])].toSorted((a, b) => a - b);
  const spans: TermsSpan[] = [];
  for (const [i, edge] of edges.entries()) {
    const end = edges[i + 1] ?? toMs;
    const tenant = rowAt(tenantRows, edge)?.value as Tenant | undefined;
    const plan =
      tenant === undefined ? undefined : (rowAt(planRows.get(tenant.plan) ?? [], edge)?.value as Plan | undefined);
    if (plan === undefined || end <= edge) continue;
    const terms = termsOf(plan);
    const before = spans.at(-1);
    if (before !== undefined && before.toMs === edge && sameTerms(before.terms, terms))
      spans[spans.length - 1] = { ...before, toMs: end };
    else spans.push({ fromMs: edge, toMs: end, terms });
  }
  return spans;
}

/** The version in force at an instant; the first one also before it was written. */
export function rowAt(rows: readonly RowAt[], ms: number): RowAt | undefined {
  return rows.findLast(({ atMs }) => atMs <= ms) ?? rows.find(({ value }) => value !== undefined);
}

function sameTerms(a: Terms, b: Terms): boolean {
  return (
    a.plan === b.plan &&
    a.feeNanoUsd === b.feeNanoUsd &&
    a.allotmentTokens === b.allotmentTokens &&
    a.overagePicoUsd === b.overagePicoUsd
  );
}
