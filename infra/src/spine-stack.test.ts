import { LOCAL_ACCOUNT, LOCAL_REGION, queueArn, TOPOLOGY } from '@sluice/contracts';
import { synthSpine } from './synth-spine.ts';

type Rows = Record<string, Record<string, unknown>>;
const place = { region: LOCAL_REGION, account: LOCAL_ACCOUNT };

describe('the synthesised spine', () => {
  const json = synthSpine({ topology: TOPOLOGY, place, endpoint: 'http://127.0.0.1:4566' });
  const { resource, provider } = JSON.parse(json) as {
    resource: Record<string, Rows>;
    provider: Record<string, unknown[]>;
  };
  const byName = (type: string, key = 'name'): Rows =>
    Object.fromEntries(Object.values(resource[type] ?? {}).map((row) => [row[key] as string, row]));

  it('has the declared topics, queues and subscriptions and nothing else', () => {
    expect(Object.keys(resource).sort()).toEqual(['aws_sns_topic', 'aws_sns_topic_subscription', 'aws_sqs_queue']);
    expect(Object.keys(byName('aws_sns_topic')).sort()).toEqual(TOPOLOGY.topics.map((topic) => topic.name).sort());
    expect(Object.keys(byName('aws_sqs_queue')).sort()).toEqual(
      TOPOLOGY.queues.flatMap((queue) => [queue.name, queue.dlq]).sort(),
    );
    expect(Object.keys(byName('aws_sns_topic_subscription', 'endpoint'))).toHaveLength(TOPOLOGY.queues.length);
  });

  it('says what AWS users look for: encryption, redrive after three receives, one allowed source, filters on attributes', () => {
    expect(byName('aws_sns_topic')['audit-events']).toMatchObject({ kms_master_key_id: 'alias/aws/sns' });
    expect(byName('aws_sqs_queue')['acme-audit-export']).toMatchObject({
      visibility_timeout_seconds: 30,
      message_retention_seconds: 1_209_600,
      receive_wait_time_seconds: 10,
      sqs_managed_sse_enabled: true,
      redrive_policy: JSON.stringify({
        deadLetterTargetArn: queueArn('acme-audit-export-dlq', place),
        maxReceiveCount: 3,
      }),
    });
    expect(byName('aws_sqs_queue')['acme-audit-export-dlq']).toMatchObject({
      message_retention_seconds: 1_209_600,
      sqs_managed_sse_enabled: true,
      redrive_allow_policy: JSON.stringify({
        redrivePermission: 'byQueue',
        sourceQueueArns: [queueArn('acme-audit-export', place)],
      }),
    });
    expect(byName('aws_sns_topic_subscription', 'endpoint')[queueArn('acme-audit-export', place)]).toMatchObject({
      protocol: 'sqs',
      raw_message_delivery: true,
      filter_policy: '{"tenant_id":["acme"]}',
      filter_policy_scope: 'MessageAttributes',
    });
  });

  it('makes a queue before what points at it', () => {
    const queue = byName('aws_sqs_queue')['metering'];
    expect(queue?.['depends_on']).toEqual(['aws_sqs_queue.queue_metering-dlq']);
    const subscription = byName('aws_sns_topic_subscription', 'endpoint')[queueArn('metering', place)];
    expect([...(subscription?.['depends_on'] as string[])].sort()).toEqual([
      'aws_sns_topic.topic_usage-events',
      'aws_sqs_queue.queue_metering',
    ]);
  });

  it("sends an emulator's calls to its endpoint", () => {
    expect(provider['aws']?.[0]).toMatchObject({
      region: LOCAL_REGION,
      endpoints: [{ sns: 'http://127.0.0.1:4566', sqs: 'http://127.0.0.1:4566' }],
    });
  });
});
