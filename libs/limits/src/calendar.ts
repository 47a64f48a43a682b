/** A half-open span of time, epoch milliseconds. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Finding a period's ends takes a fraction of a millisecond, so the last few are kept. */
const KEPT_PERIODS = 8;
/** No zone is further from UTC than 14 hours; one more for a change of clocks. */
const FURTHEST_MS = 15 * HOUR_MS;

/**
 * Days or months of a time zone. A period starts at the first instant of its first local day, so it is right on days
 * of 23 and 25 hours and where a day begins at 01:00 because midnight is skipped.
 */
export interface Calendar {
  /** The period that holds an instant. The last answer is kept, so a repeated question costs a comparison. */
  periodAt(ms: number): Period;
}

const calendars = new Map<string, Calendar>();

/** The calendar of a zone; one shared instance per zone and period. Throws a RangeError when the zone is unknown. */
export function calendarOf(timeZone: string, period: 'day' | 'month'): Calendar {
  const id = `${period} ${timeZone}`;
  const known = calendars.get(id);
  if (known !== undefined) return known;
  const made = createCalendar(timeZone, period);
  calendars.set(id, made);
  return made;
}

/** Local dates of a zone, each as the UTC midnight of that date. */
interface LocalDates {
  dateAt(ms: number): number;
  /** First instant whose local date is `date` or later. */
  startOf(date: number): number;
}

/** Arithmetic alone: most tenants live in UTC, and the runtime's formatter takes 10 MB when it is first asked. */
const UTC_DATES: LocalDates = {
  dateAt: (ms) => Math.floor(ms / DAY_MS) * DAY_MS,
  startOf: (date) => date,
};

function localDatesOf(timeZone: string): LocalDates {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });

  const dateAt = (ms: number): number => {
    let year = 0;
    let month = 1;
    let day = 1;
    for (const { type, value } of format.formatToParts(ms)) {
      if (type === 'year') year = Number(value);
      else if (type === 'month') month = Number(value);
      else if (type === 'day') day = Number(value);
    }
    return Date.UTC(year, month - 1, day);
  };

  return {
    dateAt,
    startOf(date) {
      let before = date - FURTHEST_MS;
      let after = date + FURTHEST_MS;
      while (after - before > 1) {
        const middle = Math.floor((before + after) / 2);
        if (dateAt(middle) >= date) after = middle;
        else before = middle;
      }
      return after;
    },
  };
}

function createCalendar(timeZone: string, period: 'day' | 'month'): Calendar {
  const { dateAt, startOf } = timeZone === 'UTC' ? UTC_DATES : localDatesOf(timeZone);
  let last: Period | undefined;
  const recent: Period[] = [];
  const holds = (period: Period, ms: number): boolean => ms >= period.startMs && ms < period.endMs;
  return {
    periodAt(ms) {
      if (last !== undefined && holds(last, ms)) return last;
      last = recent.find((period) => holds(period, ms));
      if (last !== undefined) return last;
      const date = new Date(dateAt(ms));
      const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
      const first = period === 'day' ? Date.UTC(year, month, day) : Date.UTC(year, month, 1);
      const next = period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
      last = { startMs: startOf(first), endMs: startOf(next) };
      recent.push(last);
      if (recent.length > KEPT_PERIODS) recent.shift();
      return last;
    },
  };
}
