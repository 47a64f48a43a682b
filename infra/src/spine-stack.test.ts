import { dlqAttributes, LOCAL_ACCOUNT, LOCAL_REGION, queueArn, queueAttributes, subscriptionAttributes, topicArn, TOPOLOGY } from '@sluice/contracts';
import { Testing } from 'cdktf';
import { SpineStack } from './spine-stack.ts';

type Rows = Record<string, Record<string, unknown>>;
const place = { region: LOCAL_REGION, account: LOCAL_ACCOUNT };

describe('the synthesised spine', () => {
  const stack = new SpineStack(Testing.app(), 'spine', { topology: TOPOLOGY, place, endpoint: 'http://127.0.0.1:4566' });
  const { resource, provider } = JSON.parse(Testing.synth(stack)) as { resource: Record<string, Rows>; provider: Record<string, unknown[]> };
  const byName = (type: string, key = 'name'): Rows => Object.fromEntries(Object.values(resource[type] ?? {}).map((row) => [row[key] as string, row]));

  it('has the declared topics, queues and subscriptions and nothing else', () => {
    expect(Object.keys(resource).sort()).toEqual(['aws_sns_topic', 'aws_sns_topic_subscription', 'aws_sqs_queue']);
    expect(Object.keys(byName('aws_sns_topic')).sort()).toEqual(TOPOLOGY.topics.map((topic) => topic.name).sort());
    expect(Object.keys(byName('aws_sqs_queue')).sort()).toEqual(TOPOLOGY.queues.flatMap((queue) => [queue.name, queue.dlq]).sort());
    expect(Object.keys(byName('aws_sns_topic_subscription', 'endpoint'))).toHaveLength(TOPOLOGY.queues.length);
  });

  it.each(TOPOLOGY.queues)('$name equals its declaration attribute by attribute', (declared) => {
    const { depends_on: _dependsOn, ...queue } = byName('aws_sqs_queue')[declared.name] ?? {};
    const own = queueAttributes(declared, place);
    expect(queue).toEqual({
      name: declared.name,
      visibility_timeout_seconds: 30,
      message_retention_seconds: 345_600,
      receive_wait_time_seconds: 10,
      redrive_policy: own['RedrivePolicy'],
      policy: own['Policy'],
    });
    expect(JSON.parse(queue['redrive_policy'] as string)).toEqual({ deadLetterTargetArn: queueArn(`${declared.name}-dlq`, place), maxReceiveCount: 3 });
    expect(byName('aws_sqs_queue')[declared.dlq]).toEqual({
      name: declared.dlq,
      message_retention_seconds: 1_209_600,
      redrive_allow_policy: dlqAttributes(declared, place)['RedriveAllowPolicy'],
    });
    const { depends_on: _order, ...subscription } = byName('aws_sns_topic_subscription', 'endpoint')[queueArn(declared.name, place)] ?? {};
    const filter = subscriptionAttributes(declared)['FilterPolicy'];
    expect(subscription).toEqual({
      topic_arn: topicArn(declared.topic, place),
      protocol: 'sqs',
      endpoint: queueArn(declared.name, place),
      raw_message_delivery: true,
      ...(filter === undefined ? {} : { filter_policy: filter }),
    });
  });

  it('makes a queue before what points at it', () => {
    const queue = byName('aws_sqs_queue')['metering'];
    expect(queue?.['depends_on']).toEqual(['aws_sqs_queue.queue_metering-dlq']);
    const subscription = byName('aws_sns_topic_subscription', 'endpoint')[queueArn('metering', place)];
    expect([...(subscription?.['depends_on'] as string[])].sort()).toEqual(['aws_sns_topic.topic_usage-events', 'aws_sqs_queue.queue_metering']);
  });

  it('sends an emulator\'s calls to its endpoint', () => {
    expect(provider['aws']?.[0]).toMatchObject({ region: LOCAL_REGION, endpoints: [{ sns: 'http://127.0.0.1:4566', sqs: 'http://127.0.0.1:4566' }] });
  });
});
