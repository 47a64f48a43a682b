import {
  nanoUsdToDecimal,
  OVERAGE_WINDOW,
  type BillingView,
  type ConfigSnapshot,
  type Plan,
  type QuotaWindow,
  type StatementView,
  type Tenant,
} from '@sluice/contracts';
import { calendarOf, type Period } from '@sluice/limits';
import type { ConfigHistory, RowAt } from '../config/config-history.ts';
import type { BillingReader } from './billing-reader.ts';
import { forecastTokens } from './forecast.ts';
import { invoiceOf, refusesAtTokens, type Invoice } from './invoice.ts';
import { monthName, monthPeriod, monthsSince, zonesOf } from './months.ts';
import { rowAt, termsOf, termsWithin, type TermsSpan } from './terms.ts';

const DAY_MS = 86_400_000;
/** Complete days that the forecast looks at. */
const FORECAST_DAYS = 14;

export interface BillingDeps {
  readonly reader: BillingReader;
  readonly history: ConfigHistory;
  readonly snapshot: () => ConfigSnapshot;
}

/** What tenants owe, from ledger and configuration alone. */
export interface Billing {
  /** Undefined for a month that the tenant has no statement of. */
  statement(tenant: Tenant, month: string, nowMs: number): Promise<StatementView | undefined>;
  current(tenant: Tenant, nowMs: number): Promise<Omit<BillingView, 'version'>>;
  /** The quota window that enforces the cap in the month of an instant; undefined where the plan sells no overage. */
  capWindow(tenant: Tenant, nowMs: number): Promise<QuotaWindow | undefined>;
}

interface Month {
  readonly name: string;
  readonly period: Period;
  readonly spans: readonly TermsSpan[];
  /** The cap that its overage is charged by, nanodollars; undefined for none. */
  readonly capNanoUsd: number | undefined;
}

export function createBilling({ reader, history, snapshot }: BillingDeps): Billing {
  const planOf = (tenant: Tenant) => snapshot().plans[tenant.plan];
  const capOf = (tenant: Tenant, plan = planOf(tenant)): number | undefined => {
    const overage = plan?.allotment.overage;
    return overage === undefined ? undefined : (tenant.overageCapNanoUsd ?? overage.capNanoUsd);
  };

  async function startMs(tenant: Tenant, rows: Awaited<ReturnType<ConfigHistory['of']>>): Promise<number> {
    return Math.min(rows[0]?.atMs ?? Infinity, (await reader.firstDayMs(tenant.id)) ?? Infinity);
  }

  /** Tokens in [fromMs, toMs); negative when that runs backwards. */
  async function tokensBetween(tenant: string, fromMs: number, toMs: number): Promise<number> {
    if (fromMs === toMs) return 0;
    return fromMs < toMs ? reader.tokens(tenant, fromMs, toMs) : -(await reader.tokens(tenant, toMs, fromMs));
  }

  async function monthAt(
    tenant: Tenant,
    ms: number,
    tenantRows: readonly RowAt[],
    start: number,
    nowMs: number,
  ): Promise<Month> {
    const period = monthPeriod(zonesOf(tenant, tenantRows), ms);
    const plans = new Set(tenantRows.flatMap(({ value }) => (value === undefined ? [] : [(value as Tenant).plan])));
    const planRows = new Map(
      await Promise.all([...plans].map(async (id) => [id, await history.of('plans', id)] as const)),
    );
    const spans = termsWithin(tenantRows, planRows, start, period.startMs, period.endMs);
    return { name: monthName(period), period, spans, capNanoUsd: capWithin(spans) };

    /**
     * As it was when overage was last sold in the month: what is set later, or for a later plan, changes nothing
     * that was used.
     */
    function capWithin(spans: readonly TermsSpan[]): number | undefined {
      const sold = spans.findLast(({ terms }) => terms.overagePicoUsd !== undefined);
      if (sold === undefined || sold.toMs > nowMs) return capOf(tenant);
      const then = rowAt(tenantRows, sold.toMs - 1)?.value as Tenant;
      return capOf(then, rowAt(planRows.get(then.plan) ?? [], sold.toMs - 1)?.value as Plan | undefined);
    }
  }

  async function invoice(tenant: Tenant, { period, spans, capNanoUsd }: Month): Promise<Invoice> {
    const [used, credits] = await Promise.all([
      Promise.all(spans.map(({ fromMs, toMs }) => reader.tokens(tenant.id, fromMs, toMs))),
      reader.credits(tenant.id, period.startMs, period.endMs),
    ]);
    return invoiceOf({
      spans,
      usedTokens: used,
      monthMs: period.endMs - period.startMs,
      capNanoUsd,
      creditsNanoUsd: credits,
    });
  }

  async function statementOf(tenant: Tenant, month: Month, made: Invoice, nowMs: number): Promise<StatementView> {
    const usage = await reader.byModel(tenant.id, month.period.startMs, month.period.endMs);
    return {
      tenant: { id: tenant.id, name: tenant.name },
      month: month.name,
      time_zone: tenant.timeZone,
      from: instant(month.period.startMs),
      to: instant(month.period.endMs),
      closed: month.period.endMs <= nowMs,
      segments: made.segments.map((segment) => ({
        from: instant(segment.fromMs),
        to: instant(segment.toMs),
        plan: segment.terms.plan,
        plan_name: segment.terms.planName,
        monthly_fee_nanousd: segment.terms.feeNanoUsd,
        fee_nanousd: segment.feeNanoUsd,
        monthly_allotment_tokens: segment.terms.allotmentTokens,
        allotment_tokens: segment.allotmentTokens,
        used_tokens: segment.usedTokens,
        overage_tokens: segment.overageTokens,
        overage_picousd_per_token: segment.terms.overagePicoUsd ?? null,
        overage_nanousd: segment.overageNanoUsd,
      })),
      usage: usage.map(({ model, calls, tokens, valueNanoUsd }) => ({
        model,
        calls,
        tokens,
        value_nanousd: valueNanoUsd,
      })),
      fee_nanousd: made.feeNanoUsd,
      allotment_tokens: made.allotmentTokens,
      used_tokens: made.usedTokens,
      overage_tokens: made.overageTokens,
      overage_nanousd: made.overageNanoUsd,
      overage_cap_nanousd: month.capNanoUsd ?? null,
      waived_nanousd: made.waivedNanoUsd,
      credits_nanousd: made.creditsNanoUsd,
      total_nanousd: made.totalNanoUsd,
      total_usd: nanoUsdToDecimal(made.totalNanoUsd),
    };
  }

  async function forecast(
    tenant: Tenant,
    month: Month,
    made: Invoice,
    start: number,
    nowMs: number,
  ): Promise<BillingView['forecast']> {
    const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
    const firstDay = Math.max(Math.ceil(start / DAY_MS) * DAY_MS, today - FORECAST_DAYS * DAY_MS);
    const days = firstDay < today ? await reader.daily(tenant.id, firstDay, today) : [];
    const found = forecastTokens({
      nowMs,
      monthStartMs: Math.max(month.period.startMs, start),
      monthEndMs: month.period.endMs,
      usedTokens: made.usedTokens,
      days,
    });
    if (found === undefined) return null;
    const last = month.spans.length - 1;
    const total = (tokens: number): number =>
      invoiceOf({
        spans: month.spans,
        usedTokens: made.segments.map(({ usedTokens }, i) => usedTokens + (i === last ? tokens - made.usedTokens : 0)),
        monthMs: month.period.endMs - month.period.startMs,
        capNanoUsd: month.capNanoUsd,
        creditsNanoUsd: made.creditsNanoUsd,
      }).totalNanoUsd;
    const refuses = refusesAtTokens(month.spans, month.period.endMs - month.period.startMs, capOf(tenant));
    const reachedMs =
      refuses === undefined || found.perDay <= 0
        ? Infinity
        : nowMs + (Math.max(0, refuses - made.usedTokens) / found.perDay) * DAY_MS;
    return {
      method: found.method,
      tokens: { low: found.low, expected: found.expected, high: found.high },
      total_nanousd: { low: total(found.low), expected: total(found.expected), high: total(found.high) },
      cap_reached_at: reachedMs < month.period.endMs ? instant(Math.ceil(reachedMs)) : null,
    };
  }

  return {
    statement: async (tenant, name, nowMs) => {
      const middle = Date.parse(`${name}-15T12:00:00.000Z`);
      if (Number.isNaN(middle)) return undefined;
      const rows = await history.of('tenants', tenant.id);
      const start = await startMs(tenant, rows);
      const month = await monthAt(tenant, middle, rows, start, nowMs);
      if (month.period.endMs <= start || month.period.startMs > nowMs) return undefined;
      return statementOf(tenant, month, await invoice(tenant, month), nowMs);
    },
    current: async (tenant, nowMs) => {
      const plan = planOf(tenant);
      if (plan === undefined) throw new Error(`the plan ${tenant.plan} is not in the configuration`);
      const rows = await history.of('tenants', tenant.id);
      const start = await startMs(tenant, rows);
      const month = await monthAt(tenant, nowMs, rows, start, nowMs);
      const made = await invoice(tenant, month);
      const terms = termsOf(plan);
      const [statement, ahead] = await Promise.all([
        statementOf(tenant, month, made, nowMs),
        forecast(tenant, month, made, start, nowMs),
      ]);
      return {
        plan: {
          id: plan.id,
          name: plan.displayName,
          fee_nanousd: terms.feeNanoUsd,
          allotment_tokens: terms.allotmentTokens,
          overage_picousd_per_token: terms.overagePicoUsd ?? null,
        },
        statement,
        overage_cap: {
          nanousd: capOf(tenant) ?? null,
          source: tenant.overageCapNanoUsd === undefined ? 'plan' : 'customer',
          refuses_at_tokens:
            refusesAtTokens(month.spans, month.period.endMs - month.period.startMs, capOf(tenant)) ?? null,
          editable: plan.allotment.overage !== undefined,
        },
        forecast: ahead,
        months: monthsSince(zonesOf(tenant, rows), start, nowMs),
      };
    },
    capWindow: async (tenant, nowMs) => {
      if (capOf(tenant) === undefined) return undefined;
      const rows = await history.of('tenants', tenant.id);
      const month = await monthAt(tenant, nowMs, rows, await startMs(tenant, rows), nowMs);
      const refusesAt = refusesAtTokens(month.spans, month.period.endMs - month.period.startMs, capOf(tenant));
      if (refusesAt === undefined) return undefined;
      // Gateways count from the first of the month in the tenant's zone of now. Where the month that is billed began
      // by another zone, the hours between are counted on one side only, and never change again.
      const counted = calendarOf(tenant.timeZone, 'month').periodAt(nowMs);
      const limit = refusesAt + (await tokensBetween(tenant.id, counted.startMs, month.period.startMs));
      return {
        id: OVERAGE_WINDOW,
        meter: 'total_tokens',
        span: { kind: 'calendar', period: 'month' },
        limit: Math.max(1, limit),
        mode: 'hard',
        alertAtPercent: [80, 100],
      };
    },
  };
}

const instant = (ms: number): string => new Date(ms).toISOString();
