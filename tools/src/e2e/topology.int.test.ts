import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOCAL_ACCOUNT, LOCAL_REGION, queueArn, topicArn, TOPOLOGY } from '@sluice/contracts';
import {
  canonicalJson,
  createSpineClients,
  describeDeployed,
  provisionTopology,
  type Attributes,
} from '@sluice/events';
import { buildApp } from 'fauxqs';
import { attributesOfJson, type SynthesisedResource } from '../deep/attributes-of-json.ts';
import { synthesiseSpine } from '../deep/synthesise-spine.ts';
import { ROOT } from '../docs/read-repository.ts';

const place = { region: LOCAL_REGION, account: LOCAL_ACCOUNT };

/** What an API shows of a resource beyond what was ever set, and what no declaration says. */
const NOT_DECLARED = new Set([
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'QueueArn',
  'Owner',
  'TopicArn',
  'SubscriptionsConfirmed',
  'SubscriptionsDeleted',
  'SubscriptionsPending',
  'EffectiveDeliveryPolicy',
  'DisplayName',
  'SubscriptionArn',
  'Endpoint',
  'Protocol',
  'ConfirmationWasAuthenticated',
  'PendingConfirmation',
  'SubscriptionPrincipal',
]);
/** What SQS sets where nothing is declared; a dead-letter queue declares neither. */
const DEFAULTS: Attributes = {
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  VisibilityTimeout: '30',
  ReceiveMessageWaitTimeSeconds: '0',
};

const comparable = (attributes: Attributes): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([name, value]) => !NOT_DECLARED.has(name) && DEFAULTS[name] !== value)
      .map(([name, value]) => [name, canonicalJson(value)]),
  );

describe('the one declaration', () => {
  let outdir: string;
  let synthesised: SynthesisedResource[];
  let deployed: Awaited<ReturnType<typeof describeDeployed>>;

  beforeAll(async () => {
    outdir = mkdtempSync(join(tmpdir(), 'sluice-synth-'));
    const app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
    const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
    const spine = createSpineClients({
      endpoint,
      region: LOCAL_REGION,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    try {
      await provisionTopology(TOPOLOGY, spine);
      deployed = await describeDeployed(TOPOLOGY, spine);
      const folder = await synthesiseSpine(ROOT, outdir, endpoint, place);
      synthesised = attributesOfJson(readFileSync(join(folder, 'cdk.tf.json'), 'utf8'));
    } finally {
      spine.close();
      await app.close();
    }
  });
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));

  const stack = (type: string): Record<string, Record<string, string | undefined>> =>
    Object.fromEntries(
      synthesised
        .filter((resource) => resource.type === type)
        .map(({ name, attributes }) => [name, comparable(attributes)]),
    );

  it('gives the same topics by Terraform and by the provisioner, attribute by attribute', () => {
    expect(stack('aws_sns_topic')).toEqual(
      Object.fromEntries(Object.entries(deployed.topics).map(([name, attributes]) => [name, comparable(attributes)])),
    );
    expect(Object.keys(stack('aws_sns_topic'))).toHaveLength(3);
  });

  it('gives the same queues and dead-letter queues, attribute by attribute', () => {
    expect(stack('aws_sqs_queue')).toEqual(
      Object.fromEntries(Object.entries(deployed.queues).map(([name, attributes]) => [name, comparable(attributes)])),
    );
    expect(Object.keys(stack('aws_sqs_queue'))).toHaveLength(12);
    expect(stack('aws_sqs_queue')['metering']).toMatchObject({
      SqsManagedSseEnabled: 'true',
      RedrivePolicy: expect.stringContaining('"maxReceiveCount":"3"'),
    });
  });

  it('gives the same subscriptions: topic, queue, raw delivery, filter', () => {
    expect(stack('aws_sns_topic_subscription')).toEqual(
      Object.fromEntries(
        deployed.subscriptions.map(({ queue, attributes }) => [queueArn(queue, place), comparable(attributes)]),
      ),
    );
    const edges = synthesised
      .filter(({ type }) => type === 'aws_sns_topic_subscription')
      .map(({ name, topicArn: from }) => `${from} → ${name}`);
    expect(edges.toSorted()).toEqual(
      TOPOLOGY.queues.map((queue) => `${topicArn(queue.topic, place)} → ${queueArn(queue.name, place)}`).toSorted(),
    );
  });

  it('leaves no attribute out of the comparison', () => {
    expect(() => attributesOfJson('{"resource":{"aws_sqs_queue":{"q":{"name":"q","fifo_queue":true}}}}')).toThrow(
      'aws_sqs_queue.fifo_queue is not known',
    );
    expect(() => attributesOfJson('{"resource":{"aws_sqs_queue_policy":{}}}')).toThrow(
      'aws_sqs_queue_policy is not known',
    );
  });
});
