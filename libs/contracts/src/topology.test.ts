import { declareTopology, TOPOLOGY } from './topology.ts';

describe('the declared spine', () => {
  it('has three topics and six queues, each with a dead-letter queue and three receives', () => {
    expect(TOPOLOGY.topics.map((topic) => topic.event)).toEqual(['usage.events', 'audit.events', 'anomaly.events']);
    expect(TOPOLOGY.queues.map((queue) => queue.name)).toEqual(['metering', 'router-usage', 'audit', 'acme-audit-export', 'anomaly', 'router-anomaly']);
    for (const queue of TOPOLOGY.queues) {
      expect(queue.dlq).toBe(`${queue.name}-dlq`);
      expect(queue.maxReceiveCount).toBe(3);
      expect(queue.rawDelivery).toBe(true);
    }
  });

  it('never lets two processes share a queue', () => {
    const names = TOPOLOGY.queues.map((queue) => queue.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('an export queue receives its own tenant\'s events and no other', () => {
    const queues = declareTopology(['globex']).queues.filter((queue) => queue.topic === 'audit-events' && queue.consumer === undefined);
    expect(queues).toHaveLength(1);
    expect(queues[0]?.filter).toEqual({ tenant_id: ['globex'] });
  });
});
