import { createMemoryBus } from './memory-bus.ts';

describe('the bus in memory', () => {
  it('filters as declared and dead-letters after three receives', async () => {
    const bus = createMemoryBus();
    const receives: number[] = [];
    const consumer = bus.consumer(
      'audit',
      async (batch) => (
        receives.push(...batch.map((one) => one.receiveCount)),
        { failed: new Map(batch.map((one) => [one.messageId, 'no'])) }
      ),
    );
    consumer.start();
    await bus.publisher.publish([{ id: '1', topic: 'audit-events', body: '{}', attributes: { tenant_id: 'globex' } }]);
    await bus.idle();
    expect(receives).toEqual([1, 2, 3]);
    expect(bus.messages('audit-dlq')).toHaveLength(1);
    expect(bus.messages('acme-audit-export')).toHaveLength(0);
    await consumer.stop();
  });

  it('refuses everything while down', async () => {
    const bus = createMemoryBus();
    bus.setDown(true);
    expect(await bus.publisher.publish([{ id: '1', topic: 'usage-events', body: '{}', attributes: {} }])).toEqual([
      '1',
    ]);
    expect(bus.messages('metering')).toHaveLength(0);
  });
});
