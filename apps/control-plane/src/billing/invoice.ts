import { priceClass } from '@sluice/contracts';
import type { TermsSpan } from './terms.ts';

/** A stretch of a month with its part of fee, allotment and overage. Tokens, and whole nanodollars. */
export interface InvoiceSegment extends TermsSpan {
  readonly feeNanoUsd: number;
  readonly allotmentTokens: number;
  readonly usedTokens: number;
  readonly overageTokens: number;
  readonly overageNanoUsd: number;
}

export interface Invoice {
  readonly segments: readonly InvoiceSegment[];
  readonly feeNanoUsd: number;
  readonly allotmentTokens: number;
  readonly usedTokens: number;
  readonly overageTokens: number;
  readonly overageNanoUsd: number;
  /** Overage above the cap. */
  readonly waivedNanoUsd: number;
  readonly creditsNanoUsd: number;
  readonly totalNanoUsd: number;
}

/**
 * The invoice of a month. Fee and allotment of a segment are its share of the month by time: the fee rounded half
 * up to whole nanodollars, the allotment down to whole tokens. The parts of the allotment are one pot, used up in
 * order of time; what a segment uses beyond it is charged by the segment's price for a token, rounded half up once
 * per segment. What exceeds the cap is not charged. Credits are added last.
 *
 * @param usedTokens of each span, in its order.
 * @param capNanoUsd undefined for none.
 * @param creditsNanoUsd negative in the customer's favour.
 */
export function invoiceOf(input: {
  spans: readonly TermsSpan[];
  usedTokens: readonly number[];
  monthMs: number;
  capNanoUsd: number | undefined;
  creditsNanoUsd: number;
}): Invoice {
  const { spans, usedTokens, monthMs, capNanoUsd, creditsNanoUsd } = input;
  const parts = spans.map((span, i) => ({
    span,
    used: Math.max(0, usedTokens[i] ?? 0),
    fee: shareHalfUp(span.terms.feeNanoUsd, span.toMs - span.fromMs, monthMs),
    allotment: shareDown(span.terms.allotmentTokens, span.toMs - span.fromMs, monthMs),
  }));
  let left = parts.reduce((sum, { allotment }) => sum + allotment, 0);
  const segments = parts.map(({ span, used, fee, allotment }): InvoiceSegment => {
    const covered = Math.min(used, left);
    left -= covered;
    const overage = used - covered;
    return {
      ...span,
      feeNanoUsd: fee,
      allotmentTokens: allotment,
      usedTokens: used,
      overageTokens: overage,
      overageNanoUsd: priceClass(overage, span.terms.overagePicoUsd ?? 0),
    };
  });
  const sum = (of: (segment: InvoiceSegment) => number): number =>
    segments.reduce((total, segment) => total + of(segment), 0);
  const [feeNanoUsd, overageNanoUsd] = [sum((s) => s.feeNanoUsd), sum((s) => s.overageNanoUsd)];
  const waivedNanoUsd = capNanoUsd === undefined ? 0 : Math.max(0, overageNanoUsd - capNanoUsd);
  return {
    segments,
    feeNanoUsd,
    allotmentTokens: sum((s) => s.allotmentTokens),
    usedTokens: sum((s) => s.usedTokens),
    overageTokens: sum((s) => s.overageTokens),
    overageNanoUsd,
    waivedNanoUsd,
    creditsNanoUsd,
    totalNanoUsd: feeNanoUsd + overageNanoUsd - waivedNanoUsd + creditsNanoUsd,
  };
}

/** `amount × part ÷ whole`, rounded half up; exact for every amount below 2^53. */
function shareHalfUp(amount: number, part: number, whole: number): number {
  return Number((BigInt(amount) * BigInt(part) * 2n + BigInt(whole)) / (BigInt(whole) * 2n));
}

function shareDown(amount: number, part: number, whole: number): number {
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}

/**
 * Tokens of a month from which on gateways refuse, so that its overage cannot exceed the cap: the month's allotment
 * and what the cap buys at the dearest price of the month, rounded down. Undefined where the newest terms sell no
 * overage, or there is no cap.
 */
export function refusesAtTokens(
  spans: readonly TermsSpan[],
  monthMs: number,
  capNanoUsd: number | undefined,
): number | undefined {
  const prices = spans.flatMap(({ terms }) => (terms.overagePicoUsd === undefined ? [] : [terms.overagePicoUsd]));
  if (capNanoUsd === undefined || spans.at(-1)?.terms.overagePicoUsd === undefined) return undefined;
  const allotment = spans.reduce(
    (sum, { terms, fromMs, toMs }) => sum + shareDown(terms.allotmentTokens, toMs - fromMs, monthMs),
    0,
  );
  const bought = (BigInt(capNanoUsd) * 1000n) / BigInt(Math.max(...prices));
  const tokens = BigInt(allotment) + bought;
  return tokens > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(tokens);
}
