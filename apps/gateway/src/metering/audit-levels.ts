import type {
  AuditedLevel,
  AuditedUse,
  AuditedWindow,
  AuditSpan,
  CountedRuns,
  LevelAmendment,
  LevelRef,
  QuotaMeter,
  QuotaAuditRequest,
  QuotaAuditResponse,
} from '@sluice/contracts';
import { meterUnits, windowSpan } from '@sluice/limits';

/**
 * One level's comparison: what it held at a moment, the question about it, and what each answer adds. The same question
 * is asked until the ledger holds all calls that were counted at that moment; what earlier answers added is known here.
 */
export interface LevelQuestion {
  readonly ref: LevelRef;
  readonly asked: QuotaAuditRequest['levels'][number];
  /** True when the level still has the windows that were asked about. */
  covers(windows: readonly AuditedWindow[]): boolean;
  /** To be made at once: the next answer is compared with the windows as this one leaves them. */
  amendmentFor(answer: QuotaAuditResponse['levels'][number]): LevelAmendment;
}

/**
 * Every window is asked for in its own steps, so that it comes out as if it had counted from the beginning. Of a
 * calendar window the next period is asked for too: while the clock was ahead, calls were recorded in it.
 */
export function questionOf(level: AuditedLevel, counted: readonly CountedRuns[], nowMs: number): LevelQuestion {
  const ref: LevelRef = { tenantId: level.tenantId, level: level.level, id: level.id };
  let { amended } = level;
  const spans: AuditSpan[] = [];
  const placeOf = (wanted: AuditSpan): number => {
    const at = spans.findIndex(
      ({ from_ms, to_ms, step_ms }) =>
        from_ms === wanted.from_ms && to_ms === wanted.to_ms && step_ms === wanted.step_ms,
    );
    return at >= 0 ? at : spans.push(wanted) - 1;
  };
  const windows = level.windows.map((window) => ({
    window,
    held: new Map(window.steps),
    places: spansOf(window, nowMs).map(placeOf),
  }));
  const covers = (now: readonly AuditedWindow[]): boolean =>
    now.length === windows.length &&
    windows.every(
      ({ window }, i) => window.quota === now[i]?.quota && window.meter === now[i]?.meter && window.cut === now[i]?.cut,
    );
  return {
    ref,
    asked: { tenant_id: level.tenantId, level: level.level, id: level.id, counted: [...counted], spans },
    covers,
    amendmentFor: (answer) => ({
      ...ref,
      amended: amended++,
      windows: windows.map(({ window: { quota, meter, cut }, held, places }) => {
        const found = deltasOf(
          meter,
          held,
          places.map((place) => spans[place] as AuditSpan),
          places.flatMap((place) => answer.spans[place] ?? []),
        );
        // While the ledger lacks calls that are counted here, what it holds is the least that the window has to show.
        const deltas = answer.held ? found : found.filter(([, units]) => units > 0);
        for (const [at, units] of deltas) held.set(at, (held.get(at) ?? 0) + units);
        return { quota, meter, cut, deltas, founded: answer.held };
      }),
    }),
  };
}

function spansOf({ span, timeZone }: AuditedWindow, nowMs: number): AuditSpan[] {
  const cut = windowSpan(span, timeZone);
  const { startMs, endMs } = cut.stepAt(nowMs);
  if (span.kind === 'calendar')
    return [
      { from_ms: startMs, to_ms: endMs },
      { from_ms: endMs, to_ms: cut.stepAt(endMs).endMs },
    ];
  const stepMs = endMs - startMs;
  return [{ from_ms: startMs - stepMs * (span.steps + 1), step_ms: stepMs }];
}

/** What is to be added to each step that was asked for. */
function deltasOf(
  meter: QuotaMeter,
  held: ReadonlyMap<number, number>,
  spans: readonly AuditSpan[],
  uses: readonly AuditedUse[],
): [startMs: number, units: number][] {
  const deltas = new Map<number, number>();
  const add = (at: number, units: number): void => void deltas.set(at, (deltas.get(at) ?? 0) + units);
  for (const use of uses) add(use.at_ms, meterUnits(meter, use.input_tokens, use.output_tokens, use.billed_nanousd));
  for (const [at, used] of held)
    if (spans.some(({ from_ms, to_ms = Infinity }) => at >= from_ms && at < to_ms)) add(at, -used);
  return [...deltas].filter(([, units]) => units !== 0).toSorted(([a], [b]) => a - b);
}
