import type { ModelsView, SeriesView, UsageSums, UsageView } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { Sight } from '../routes/scoped-route.ts';

export function projectUsage(from: UsageView, sight: Sight): UsageView {
  const sums = (s: UsageSums): UsageSums => ({
    calls: s.calls,
    input_tokens: s.input_tokens,
    output_tokens: s.output_tokens,
    billed_nanousd: sight.cost ? s.billed_nanousd : null,
  });
  return {
    from: from.from,
    to: from.to,
    step: from.step,
    by: from.by,
    points: from.points.map((p) => ({ at: p.at, model: p.model, feature: p.feature, ...sums(p) })),
    groups: from.groups.map((g) => ({
      key: g.key,
      name: g.name,
      rest: g.rest,
      ...sums(g),
      previous: g.previous === null ? null : sums(g.previous),
    })),
    totals: sums(from.totals),
    previous: { from: from.previous.from, to: from.previous.to, ...sums(from.previous) },
  };
}

export function projectSeries(from: SeriesView, sight: Sight): SeriesView {
  if (from.metric === 'billed_nanousd' && !sight.cost)
    throw new ProblemError(403, 'Your role in this workspace does not allow this', {
      detail: 'It needs the permission cost:read.',
    });
  return {
    metric: from.metric,
    from: from.from,
    to: from.to,
    step_s: from.step_s,
    samples: from.samples,
    downsampled: from.downsampled,
    points: from.points.map((p) => ({ at: p.at, value: p.value })),
  };
}

export function projectModels(from: ModelsView, sight: Sight): ModelsView {
  return {
    rows: from.rows.map((m) => ({
      id: m.id,
      name: m.name,
      context_tokens: m.context_tokens,
      max_output_tokens: m.max_output_tokens,
      abilities: [...m.abilities],
      price:
        m.price === null || !sight.cost
          ? null
          : { input_picousd: m.price.input_picousd, output_picousd: m.price.output_picousd },
      retires_at: m.retires_at,
      successor: m.successor,
    })),
  };
}
