/**
 * Puts this realm's wall clock SLUICE_CLOCK_SHIFT_MS milliseconds ahead (or back). Timers, `performance.now()` and other
 * processes keep theirs; processes that are started from here are shifted when NODE_OPTIONS imports this file too.
 */
const shiftMs = Number(process.env.SLUICE_CLOCK_SHIFT_MS ?? 0);
if (!Number.isFinite(shiftMs))
  throw new TypeError('SLUICE_CLOCK_SHIFT_MS is a number of milliseconds, such as -3600000');

const RealDate = globalThis.Date;
const now = () => RealDate.now() + shiftMs;

class ShiftedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }

  static now() {
    return now();
  }
}

if (shiftMs !== 0 && RealDate.name !== 'ShiftedDate')
  globalThis.Date = new Proxy(ShiftedDate, { apply: () => new ShiftedDate().toString() });
