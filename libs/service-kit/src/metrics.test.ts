import { boundedLabel, createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  it('exports what was counted under the name of the service', async () => {
    const metrics = createMetrics({ service: 'gw' });
    metrics.counter('calls_total', 'Calls', ['outcome']).inc({ outcome: 'ok' }, 3);
    metrics.gauge('open', 'Open').set(2);
    metrics.histogram('wait_seconds', 'Wait', [], [0.1, 1]).observe(0.5);
    const text = await metrics.text();
    expect(text).toContain('calls_total{outcome="ok",service="gw"} 3');
    expect(text).toContain('open{service="gw"} 2');
    expect(text).toContain('wait_seconds_bucket{le="1",service="gw"} 1');
  });

  it('keeps two services in one process apart', async () => {
    const a = createMetrics({ service: 'a' });
    const b = createMetrics({ service: 'b' });
    a.counter('x_total', 'x').inc();
    b.counter('x_total', 'x').inc(5);
    expect(await a.text()).toContain('x_total{service="a"} 1');
  });
});

describe('boundedLabel', () => {
  it('lets the first values through and folds every later one into other', () => {
    const label = boundedLabel(2);
    expect(['a', 'b', 'c', 'a', 'd'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other']);
  });
});
