import { createMetrics } from '@sluice/service-kit';
import { createSpineMetrics } from './spine-metrics.ts';

describe('depths of queues', () => {
  it('forget an export queue that was removed, and sum what is beyond 200 names', async () => {
    const metrics = createMetrics({ service: 'cp' });
    const { depths } = createSpineMetrics(metrics);
    const queue = (name: string, waiting: number) => ({ name, waiting, in_flight: 1, dlq_depth: 2 });
    depths([queue('audit', 4), queue('gone-audit-export', 1)]);
    depths([queue('audit', 6), ...Array.from({ length: 200 }, (_, n) => queue(`t${n}-audit-export`, 1))]);
    const text = await metrics.text();
    expect(text).toContain('sluice_queue_depth{queue="audit",service="cp"} 7');
    expect(text).not.toContain('gone-audit-export');
    // 200 labels: audit, gone, and 198 of the 200 exports.
    expect(text).toContain('sluice_queue_depth{queue="other",service="cp"} 4');
    expect(text).toContain('sluice_dlq_depth{queue="other",service="cp"} 4');
  });
});
