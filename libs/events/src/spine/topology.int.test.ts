import { SetSubscriptionAttributesCommand } from '@aws-sdk/client-sns';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import {
  declaredQueue,
  declareTopology,
  exportQueue,
  LOCAL_ACCOUNT,
  LOCAL_REGION,
  RETRY_BUDGET,
  topicArn,
  TOPOLOGY,
  type Topology,
} from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { buildApp } from 'fauxqs';
import { checkConsumers } from './check-consumers.ts';
import { compareTopology } from './compare-topology.ts';
import { consumerFaults, consumptionFaults } from './consumer-faults.ts';
import { describeDeployed } from './describe-deployed.ts';
import { holdsMessage, listExportQueues, listExportSubscriptions } from './export-queues.ts';
import { listSubscriptions } from './list-subscriptions.ts';
import { provisionQueue, provisionTopology, removeQueue, unsubscribeQueue } from './provisioner.ts';
import { createSnsPublisher } from './sns-publisher.ts';
import { createSpineClients, type SpineClients } from './spine-clients.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const CONTROL_PLANE = ['metering', 'audit', 'anomaly'];
const claims = (queues: readonly string[], budget = RETRY_BUDGET) =>
  queues.map((queue) => ({ queue, retry_budget: budget }));

let app: ReturnType<typeof buildApp>;
let spine: SpineClients;
let endpoint: string;

beforeEach(async () => {
  app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
  endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  spine = createSpineClients({ endpoint, region: LOCAL_REGION, credentials });
  await provisionTopology(TOPOLOGY, spine);
});
afterEach(async () => {
  spine.close();
  await app.close();
});

async function setQueue(name: string, Attributes: Record<string, string>): Promise<void> {
  await spine.sqs.send(new SetQueueAttributesCommand({ QueueUrl: await spine.queueUrl(name), Attributes }));
}

async function breakFilter(queue: string, FilterPolicy = '{}'): Promise<void> {
  const subscriptions = await listSubscriptions(
    spine.sns,
    topicArn(declaredQueue(TOPOLOGY, queue).topic, await spine.place()),
  );
  const own = subscriptions.find(({ endpoint: arn }) => arn.endsWith(`:${queue}`));
  await spine.sns.send(
    new SetSubscriptionAttributesCommand({
      SubscriptionArn: own?.arn,
      AttributeName: 'FilterPolicy',
      AttributeValue: FilterPolicy,
    }),
  );
}

const faults = async (topology: Topology = TOPOLOGY): Promise<string[]> =>
  compareTopology(topology, await describeDeployed(topology, spine));

describe('the deployed topology', () => {
  it('is as declared, also after provisioning twice', async () => {
    await provisionTopology(TOPOLOGY, spine);
    expect(await faults()).toEqual([]);
  });

  it('differs by name and attribute: a queue, a topic, a dead-letter queue, what is not declared, what is not there', async () => {
    const changed: Topology = {
      ...TOPOLOGY,
      queues: TOPOLOGY.queues.map((queue) => (queue.name === 'audit' ? { ...queue, visibilityTimeoutS: 31 } : queue)),
    };
    expect(await faults(changed)).toEqual(['queue audit: VisibilityTimeout is 30, declared 31']);
    await setQueue('audit-dlq', { SqsManagedSseEnabled: 'false' });
    expect(await faults()).toEqual(['queue audit-dlq: SqsManagedSseEnabled is false, declared true']);
    await setQueue('audit-dlq', { SqsManagedSseEnabled: 'true' });
    const fewer: Topology = { ...TOPOLOGY, queues: TOPOLOGY.queues.filter((queue) => queue.name !== 'metering') };
    expect(await faults(fewer)).toEqual(['topic usage-events feeds queue metering, which is not declared']);
    expect(await faults(declareTopology(['acme', 'globex']))).toEqual([
      'queue globex-audit-export does not exist',
      'queue globex-audit-export-dlq does not exist',
      'queue globex-audit-export has 0 subscriptions to audit-events, declared 1',
    ]);
  });

  it("gains a tenant's export at runtime, which ends in two steps: nothing new arrives, then it is gone", async () => {
    const globex = exportQueue('globex');
    await provisionQueue(globex, spine);
    expect(await faults(declareTopology(['acme', 'globex']))).toEqual([]);
    expect(await listExportQueues(spine)).toEqual(['acme', 'globex']);
    const publish = (id: string) =>
      createSnsPublisher({ spine }).publish([
        { id, topic: 'audit-events', body: '{}', attributes: { tenant_id: 'globex' } },
      ]);
    const waiting = async () =>
      (await describeDeployed(declareTopology(['globex']), spine)).queues['globex-audit-export']?.[
        'ApproximateNumberOfMessages'
      ];
    expect(await holdsMessage(globex, spine)).toBe(false);
    await publish('a');
    expect(await holdsMessage(globex, spine)).toBe(true);
    expect(await waiting()).toBe('1');
    await unsubscribeQueue(globex, spine);
    expect(await listExportSubscriptions(spine)).toEqual(['acme']);
    await publish('b');
    expect(await waiting()).toBe('1');
    expect(await faults()).toEqual([]);
    await removeQueue(globex, spine);
    expect(await listExportQueues(spine)).toEqual(['acme']);
    await removeQueue(globex, spine);
  });
});

describe('the account of the spine', () => {
  it('is asked of SQS, or taken from the setting without asking', async () => {
    expect(await spine.place()).toEqual({ region: LOCAL_REGION, account: LOCAL_ACCOUNT });
    const told = createSpineClients({
      endpoint: 'http://127.0.0.1:9',
      region: LOCAL_REGION,
      account: '123456789012',
      credentials,
    });
    expect(await told.place()).toEqual({ region: LOCAL_REGION, account: '123456789012' });
    told.close();
  });

  it('that is not 12 digits is refused by name', () => {
    expect(() => createSpineClients({ region: LOCAL_REGION, account: 'acme' })).toThrow(
      "AWS_ACCOUNT_ID is 'acme', it must be 12 digits",
    );
  });

  it('is asked again after a failure', async () => {
    await removeQueue(declaredQueue(TOPOLOGY, 'metering'), spine);
    const late = createSpineClients({ endpoint, region: LOCAL_REGION, credentials });
    await expect(late.place()).rejects.toThrow();
    await provisionTopology(TOPOLOGY, spine);
    expect((await late.place()).account).toBe(LOCAL_ACCOUNT);
    late.close();
  });
});

describe('a process that consumes', () => {
  async function atBoot(queues: readonly string[]): Promise<string[]> {
    const warned: string[] = [];
    const logger = {
      info: () => undefined,
      error: () => undefined,
      warn: (fields: object) => void warned.push((fields as { fault: string }).fault),
    };
    const check = checkConsumers({ process: 'control-plane', queues, topology: TOPOLOGY, spine, logger });
    await check.done;
    expect(check.faults).toEqual(warned);
    return warned;
  }

  it('warns of nothing when budgets, filters and attributes are as declared', async () => {
    expect(await atBoot(CONTROL_PLANE)).toEqual([]);
  });

  it('warns when a queue gives messages up earlier than the consumer expects', async () => {
    await setQueue('metering', {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:metering-dlq`,
        maxReceiveCount: 2,
      }),
    });
    expect(await atBoot(CONTROL_PLANE)).toEqual([
      'retry budgets disagree: control-plane is built for 3 receives of a message from metering, the queue dead-letters after 2',
      expect.stringContaining('queue metering: RedrivePolicy is'),
    ]);
  });

  it('warns of a filter that is gone', async () => {
    await breakFilter('anomaly');
    expect(await atBoot(CONTROL_PLANE)).toEqual([
      expect.stringMatching(/^subscription of anomaly: FilterPolicy is \{\}, declared \{"type"/),
    ]);
  });

  it('warns of a queue that another process is declared to consume, and of one that it reads twice', async () => {
    expect(await atBoot(['metering', 'router-usage'])).toEqual([
      expect.stringContaining(
        'queue router-usage is declared for router and control-plane consumes it: two consumers share a queue',
      ),
    ]);
    expect(await atBoot(['audit', 'audit'])).toEqual(['two consumers of control-plane share queue audit']);
  });

  it('asks until the spine answers, and stops when told', async () => {
    const away = createSpineClients({ endpoint: 'http://127.0.0.1:9', region: LOCAL_REGION, credentials });
    const warned: string[] = [];
    const logger = {
      info: () => undefined,
      error: () => undefined,
      warn: (_fields: object, message: string) => void warned.push(message),
    };
    const check = checkConsumers({
      process: 'router',
      queues: ['router-usage'],
      topology: TOPOLOGY,
      spine: away,
      logger,
      retryMs: 5,
    });
    await eventually(() => expect(warned).toEqual([expect.stringContaining('cannot be compared')]));
    expect(check.faults).toBeUndefined();
    await check.stop();
    expect(warned).toHaveLength(1);
    away.close();
  });

  it('is missed when nobody consumes its queue', async () => {
    const deployed = await describeDeployed(TOPOLOGY, spine);
    expect(
      consumptionFaults(
        { 'control-plane': claims(CONTROL_PLANE), router: claims(['router-usage', 'router-anomaly']) },
        TOPOLOGY,
        deployed,
      ),
    ).toEqual([]);
    expect(
      consumptionFaults(
        { 'control-plane': claims(CONTROL_PLANE), router: claims(['router-usage']) },
        TOPOLOGY,
        deployed,
      ),
    ).toEqual(['queue router-anomaly is declared for router, which does not consume it: it grows']);
    expect(consumerFaults('router', claims(['zork']), TOPOLOGY, deployed)).toEqual([
      'router consumes queue zork, which is not declared',
    ]);
  });
});
