import type { Tenant } from '@sluice/contracts';
import { calendarOf, type Period } from '@sluice/limits';
import type { RowAt } from '../config/config-history.ts';
import { rowAt } from './terms.ts';

/** Months that are listed at most. */
const MONTHS_SHOWN = 36;
/** No zone begins a month earlier than this before UTC does. */
const EARLIEST_MS = 15 * 3_600_000;

/** The time zone of a tenant at an instant. */
export type Zones = (ms: number) => string;

export function zonesOf(tenant: Tenant, rows: readonly RowAt[]): Zones {
  return (ms) => (rowAt(rows, ms)?.value as Tenant | undefined)?.timeZone ?? tenant.timeZone;
}

/**
 * The billed month that holds an instant. Each month ends where the next one begins, by the zone that the tenant had
 * before any zone of the world had come to that end; a zone that is set later moves nothing that was closed, and no
 * hour is in two months or in none.
 */
export function monthPeriod(zones: Zones, ms: number): Period {
  const date = new Date(ms);
  let month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  if (ms < startOf(zones, month)) month -= 1;
  else if (ms >= startOf(zones, month + 1)) month += 1;
  return { startMs: startOf(zones, month), endMs: startOf(zones, month + 1) };
}

/** First instant of a month, counted from the year 0. */
function startOf(zones: Zones, month: number): number {
  const utcMs = Date.UTC(Math.floor(month / 12), month % 12, 1);
  const calendar = calendarOf(zones(utcMs - EARLIEST_MS), 'month');
  // The tenth is in the month in every zone.
  return calendar.periodAt(utcMs + 10 * 86_400_000).startMs;
}

/** `2026-03`: the month of a period, whatever the zones of its ends. */
export function monthName({ startMs, endMs }: Period): string {
  return new Date((startMs + endMs) / 2).toISOString().slice(0, 7);
}

/** The names of the months since an instant, newest first. */
export function monthsSince(zones: Zones, startMs: number, nowMs: number): string[] {
  const months: string[] = [];
  for (
    let period = monthPeriod(zones, nowMs);
    period.endMs > startMs && months.length < MONTHS_SHOWN;
    period = monthPeriod(zones, period.startMs - 1)
  )
    months.push(monthName(period));
  return months;
}
