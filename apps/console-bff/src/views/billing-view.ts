import type { BillingView, StatementView } from '@sluice/contracts';

export function projectStatement(from: StatementView): StatementView {
  return {
    tenant: { id: from.tenant.id, name: from.tenant.name },
    month: from.month,
    time_zone: from.time_zone,
    from: from.from,
    to: from.to,
    closed: from.closed,
    segments: from.segments.map((s) => ({
      from: s.from,
      to: s.to,
      plan: s.plan,
      plan_name: s.plan_name,
      monthly_fee_nanousd: s.monthly_fee_nanousd,
      fee_nanousd: s.fee_nanousd,
      monthly_allotment_tokens: s.monthly_allotment_tokens,
      allotment_tokens: s.allotment_tokens,
      used_tokens: s.used_tokens,
      overage_tokens: s.overage_tokens,
      overage_picousd_per_token: s.overage_picousd_per_token,
      overage_nanousd: s.overage_nanousd,
    })),
    usage: from.usage.map((u) => ({
      model: u.model,
      calls: u.calls,
      tokens: u.tokens,
      value_nanousd: u.value_nanousd,
    })),
    fee_nanousd: from.fee_nanousd,
    allotment_tokens: from.allotment_tokens,
    used_tokens: from.used_tokens,
    overage_tokens: from.overage_tokens,
    overage_nanousd: from.overage_nanousd,
    overage_cap_nanousd: from.overage_cap_nanousd,
    waived_nanousd: from.waived_nanousd,
    credits_nanousd: from.credits_nanousd,
    total_nanousd: from.total_nanousd,
    total_usd: from.total_usd,
  };
}

/** @param mayWrite whether the reader may change the cap. */
export function projectBilling(from: BillingView, mayWrite: boolean): BillingView {
  const { plan, overage_cap: cap, forecast } = from;
  return {
    version: from.version,
    plan: {
      id: plan.id,
      name: plan.name,
      fee_nanousd: plan.fee_nanousd,
      allotment_tokens: plan.allotment_tokens,
      overage_picousd_per_token: plan.overage_picousd_per_token,
    },
    statement: projectStatement(from.statement),
    overage_cap: {
      nanousd: cap.nanousd,
      source: cap.source,
      refuses_at_tokens: cap.refuses_at_tokens,
      editable: cap.editable && mayWrite,
    },
    forecast:
      forecast === null
        ? null
        : {
            method: forecast.method,
            tokens: { low: forecast.tokens.low, expected: forecast.tokens.expected, high: forecast.tokens.high },
            total_nanousd: {
              low: forecast.total_nanousd.low,
              expected: forecast.total_nanousd.expected,
              high: forecast.total_nanousd.high,
            },
            cap_reached_at: forecast.cap_reached_at,
          },
    months: [...from.months],
  };
}
