import client, { type Counter, type Gauge, type Histogram, type Registry } from 'prom-client';

export type { Counter, Gauge, Histogram, Registry };

/** A registry of its own per service, never prom-client's global one. */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string>(name: string, help: string, labels?: readonly L[]): Gauge<L>;
  /** `buckets` are upper bounds in the unit that the name ends in, ascending. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
  /** Prometheus text exposition. */
  text(): Promise<string>;
}

export interface MetricsOptions {
  /** Becomes the label `service` of every series. */
  service: string;
  /** Also export process metrics (CPU, memory, event loop lag). Default false. */
  processMetrics?: boolean;
}

export function createMetrics({ service, processMetrics = false }: MetricsOptions): Metrics {
  const registry = new client.Registry();
  registry.setDefaultLabels({ service });
  if (processMetrics) client.collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    counter: (name, help, labels = []) => new client.Counter({ name, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = []) => new client.Gauge({ name, help, labelNames: [...labels], registers }),
    histogram: (name, help, labels, buckets) =>
      new client.Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers }),
    text: () => registry.metrics(),
  };
}

/** What stands for every value beyond a label's bound. */
export const OTHER_LABEL = 'other';

/**
 * Keeps a label to a bounded set: the first `limit` distinct values stand for themselves, every later one is
 * `other`.
 */
export function boundedLabel(limit = 200): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= limit) return OTHER_LABEL;
    seen.add(value);
    return value;
  };
}
