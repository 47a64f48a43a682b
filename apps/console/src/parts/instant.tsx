const DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
const MINUTE = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const MINUTE_YEAR = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const SECOND = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** An instant as UTC, to the second: `2026-03-01 14:05:09 UTC`. */
export function inUtc(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`;
}

/** An instant in the person's own time zone; UTC on hover. */
export function Instant({
  at,
  seconds = false,
  dayOnly = false,
}: {
  at: string;
  seconds?: boolean;
  dayOnly?: boolean;
}) {
  const date = new Date(at);
  const thisYear = date.getFullYear() === new Date().getFullYear();
  const format = dayOnly ? DAY : seconds ? SECOND : thisYear ? MINUTE : MINUTE_YEAR;
  return (
    <time dateTime={at} title={inUtc(at)}>
      {format.format(date)}
    </time>
  );
}

const UTC_DAY = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** A calendar day of UTC, by which usage and bills are cut: `Sun, Mar 1`. */
export function utcDay(at: string): string {
  return UTC_DAY.format(new Date(at));
}

/** A calendar month of UTC: `March 2026`. */
export function utcMonth(at: string): string {
  return new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(at));
}
