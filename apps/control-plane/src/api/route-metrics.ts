import type { Metrics } from '@sluice/service-kit';
import type { OnAnswer } from './mount-routes.ts';

const BUCKETS_S = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

/** Times of answers by route of the table and status: both are bounded, whatever callers send. */
export function createRouteMetrics(metrics: Pick<Metrics, 'histogram'>): OnAnswer {
  const seconds = metrics.histogram(
    'sluice_control_plane_http_seconds',
    'Duration of an answer of the API',
    ['method', 'route', 'status'],
    BUCKETS_S,
  );
  return ({ method, path }, status, took) => seconds.observe({ method, route: path, status: String(status) }, took);
}
