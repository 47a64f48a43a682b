const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A part of a range that one relation answers; bounds are epoch milliseconds, `to` exclusive. */
export interface SummaryPiece {
  readonly from: 'ledger' | 'rollup_hour' | 'rollup_day';
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts a range into whole days, the whole hours around them and the rest, which only rows can answer, so that sums over
 * millions of rows read thousands. The pieces are disjoint and cover the range.
 *
 * @param start, end epoch milliseconds or infinite; nothing comes of a range that ends before it starts.
 */
export function summaryPieces(start: number, end: number): SummaryPiece[] {
  if (start >= end) return [];
  const hours = inner(start, end, HOUR_MS);
  if (hours === undefined) return [{ from: 'ledger', start, end }];
  const days = inner(hours.start, hours.end, DAY_MS);
  const pieces: SummaryPiece[] = [{ from: 'ledger', start, end: hours.start }];
  if (days === undefined) pieces.push({ from: 'rollup_hour', ...hours });
  else {
    pieces.push(
      { from: 'rollup_hour', start: hours.start, end: days.start },
      { from: 'rollup_day', ...days },
      { from: 'rollup_hour', start: days.end, end: hours.end },
    );
  }
  pieces.push({ from: 'ledger', start: hours.end, end });
  return pieces.filter((piece) => piece.start < piece.end);
}

/** The whole steps (UTC) inside a range. An infinite bound stays infinite. */
function inner(start: number, end: number, stepMs: number): { start: number; end: number } | undefined {
  const first = Number.isFinite(start) ? Math.ceil(start / stepMs) * stepMs : start;
  const last = Number.isFinite(end) ? Math.floor(end / stepMs) * stepMs : end;
  return first < last ? { start: first, end: last } : undefined;
}
