import { calendarOf } from './calendar.ts';

const hours = ({ startMs, endMs }: { startMs: number; endMs: number }): number => (endMs - startMs) / 3_600_000;

describe('calendarOf', () => {
  it('knows days of 23 and 25 hours', () => {
    const berlin = calendarOf('Europe/Berlin', 'day');
    expect(hours(berlin.periodAt(Date.parse('2026-03-29T10:00Z')))).toBe(23);
    expect(hours(berlin.periodAt(Date.parse('2026-10-25T10:00Z')))).toBe(25);
    expect(new Date(berlin.periodAt(Date.parse('2026-03-29T10:00Z')).startMs).toISOString()).toBe(
      '2026-03-28T23:00:00.000Z',
    );
  });

  it('begins a day at its first instant where midnight is skipped', () => {
    const beirut = calendarOf('Asia/Beirut', 'day');
    const day = beirut.periodAt(Date.parse('2025-03-30T09:00Z'));
    expect(new Date(day.startMs).toISOString()).toBe('2025-03-29T22:00:00.000Z');
    expect(hours(day)).toBe(23);
  });

  it('begins months at local midnight on both sides of the date line', () => {
    const iso = (zone: string): string[] => {
      const { startMs, endMs } = calendarOf(zone, 'month').periodAt(Date.parse('2026-12-15T00:00Z'));
      return [new Date(startMs).toISOString(), new Date(endMs).toISOString()];
    };
    expect(iso('Pacific/Kiritimati')).toEqual(['2026-11-30T10:00:00.000Z', '2026-12-31T10:00:00.000Z']);
    expect(iso('Pacific/Pago_Pago')).toEqual(['2026-12-01T11:00:00.000Z', '2027-01-01T11:00:00.000Z']);
  });

  it('counts in UTC as the zones of the runtime do', () => {
    for (const period of ['day', 'month'] as const) {
      for (const iso of [
        '1969-12-31T23:59:59.999Z',
        '2024-02-29T00:00Z',
        '2024-02-29T23:59:59.999Z',
        '2026-11-30T12:00Z',
        '2027-01-01T00:00Z',
      ]) {
        const ms = Date.parse(iso);
        expect(calendarOf('UTC', period).periodAt(ms)).toEqual(calendarOf('Etc/UTC', period).periodAt(ms));
      }
    }
  });
});
