import { dlqAttributes, placeOfArn, queueAttributes, topicArn } from './topology-attributes.ts';
import { exportTenants } from './topology-exports.ts';
import {
  declaredQueue,
  declareTopology,
  exportQueue,
  EXPORTABLE_TENANT_ID,
  RETRY_BUDGET,
  tenantOfExportQueue,
  TOPOLOGY,
} from './topology.ts';

const place = { region: 'eu-central-1', account: '123456789012' };

describe('the declared spine', () => {
  it('has three topics and six queues, each with a dead-letter queue and three receives', () => {
    expect(TOPOLOGY.topics.map((topic) => topic.event)).toEqual(['usage.events', 'audit.events', 'anomaly.events']);
    expect(TOPOLOGY.queues.map((queue) => queue.name)).toEqual([
      'metering',
      'router-usage',
      'audit',
      'acme-audit-export',
      'anomaly',
      'router-anomaly',
    ]);
    for (const queue of TOPOLOGY.queues) {
      expect(queue.dlq).toBe(`${queue.name}-dlq`);
      expect(queue.maxReceiveCount).toBe(3);
      expect(queue.rawDelivery).toBe(true);
    }
  });

  it('gives every consumer as many receives as its waits are made for', () => {
    for (const queue of TOPOLOGY.queues) expect(queue.maxReceiveCount).toBe(RETRY_BUDGET);
  });

  it('never lets two processes share a queue', () => {
    const names = TOPOLOGY.queues.flatMap((queue) => [queue.name, queue.dlq]);
    expect(new Set(names).size).toBe(names.length);
  });

  it("an export queue receives its own tenant's events and no other, and keeps them as long as SQS can", () => {
    const queues = declareTopology(['globex']).queues.filter(
      (queue) => queue.topic === 'audit-events' && queue.consumer === undefined,
    );
    expect(queues).toHaveLength(1);
    expect(queues[0]).toMatchObject({
      name: 'globex-audit-export',
      filter: { tenant_id: ['globex'] },
      retentionS: 1_209_600,
      dlqRetentionS: 1_209_600,
    });
  });

  it('an unknown queue is an error that names the declared ones', () => {
    expect(() => declaredQueue(TOPOLOGY, 'zork')).toThrow(/no queue zork is declared; there are metering, /);
  });

  it('an export queue is known by its name, and its name always fits SQS', () => {
    expect(tenantOfExportQueue(exportQueue('acme').name)).toBe('acme');
    for (const name of ['metering', '-audit-export', exportQueue('acme').dlq])
      expect(tenantOfExportQueue(name)).toBeUndefined();
    const longest = 'x'.repeat(63);
    expect(EXPORTABLE_TENANT_ID.test(longest)).toBe(true);
    expect(exportQueue(longest).dlq).toHaveLength(80);
    for (const id of ['x'.repeat(64), 'a.b', 'a:b', 'a/b', '']) expect(EXPORTABLE_TENANT_ID.test(id)).toBe(false);
  });
});

describe('attributes', () => {
  it('lets only SNS send to a queue, only for its topic, and only over TLS', () => {
    const { Statement } = JSON.parse(queueAttributes(declaredQueue(TOPOLOGY, 'audit'), place)['Policy'] ?? '') as {
      Statement: object[];
    };
    expect(Statement).toEqual([
      {
        Sid: 'AllowTopic',
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: 'arn:aws:sqs:eu-central-1:123456789012:audit',
        Condition: { ArnEquals: { 'aws:SourceArn': 'arn:aws:sns:eu-central-1:123456789012:audit-events' } },
      },
      {
        Sid: 'DenyWithoutTls',
        Effect: 'Deny',
        Principal: '*',
        Action: 'sqs:*',
        Resource: 'arn:aws:sqs:eu-central-1:123456789012:audit',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ]);
  });

  it('lets only its own queue dead-letter into a dead-letter queue', () => {
    expect(JSON.parse(dlqAttributes(declaredQueue(TOPOLOGY, 'audit'), place)['RedriveAllowPolicy'] ?? '')).toEqual({
      redrivePermission: 'byQueue',
      sourceQueueArns: ['arn:aws:sqs:eu-central-1:123456789012:audit'],
    });
  });

  it("makes ARNs of the region's part of AWS, and reads place and account back", () => {
    expect(topicArn('usage-events', { ...place, region: 'cn-north-1' })).toBe(
      'arn:aws-cn:sns:cn-north-1:123456789012:usage-events',
    );
    expect(placeOfArn(topicArn('usage-events', place))).toEqual(place);
    for (const text of ['', 'zork', 'arn:aws:sqs:eu-central-1:acme:audit']) expect(placeOfArn(text)).toBeUndefined();
  });
});

describe('tenants with an audit export', () => {
  type Config = Parameters<typeof exportTenants>[0];
  const plans = { big: { policy: { auditExport: true } }, small: { policy: { auditExport: false } } };
  const config = (
    tenants: Record<string, string>,
    workspaces: readonly { tenant: string; auditExport?: boolean }[],
  ): Config =>
    ({
      plans,
      tenants: Object.fromEntries(Object.entries(tenants).map(([id, plan]) => [id, { id, plan }])),
      workspaces: Object.fromEntries(
        workspaces.map(({ tenant, auditExport }, at) => [
          `w${at}`,
          { tenant, override: auditExport === undefined ? {} : { auditExport } },
        ]),
      ),
    }) as unknown as Config;

  it('follow their plan, which a workspace overrides both ways', () => {
    expect(exportTenants(config({ a: 'big', b: 'small' }, [{ tenant: 'a' }, { tenant: 'b' }]))).toEqual(['a']);
    expect(
      exportTenants(
        config({ a: 'big', b: 'small' }, [
          { tenant: 'a', auditExport: false },
          { tenant: 'b', auditExport: true },
        ]),
      ),
    ).toEqual(['b']);
  });

  it('export when one of several workspaces does, and by the plan while there is none', () => {
    expect(
      exportTenants(config({ b: 'big', a: 'big', c: 'small' }, [{ tenant: 'a', auditExport: false }, { tenant: 'a' }])),
    ).toEqual(['a', 'b']);
  });
});
