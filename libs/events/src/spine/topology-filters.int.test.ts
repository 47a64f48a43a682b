import { SetSubscriptionAttributesCommand } from '@aws-sdk/client-sns';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { EVENT_SCHEMA, LOCAL_REGION, topicArn, TOPOLOGY, type AuditEvent, type OutgoingEvent } from '@sluice/contracts';
import { buildApp } from 'fauxqs';
import { listSubscriptions } from './list-subscriptions.ts';
import { provisionTopology } from './provisioner.ts';
import { createSnsPublisher } from './sns-publisher.ts';
import { createSpineClients, type SpineClients } from './spine-clients.ts';

const TENANTS = ['acme', 'globex', 'acme-two'] as const;

function auditEvent(n: number): { event: AuditEvent; outgoing: OutgoingEvent } {
  const tenant_id = TENANTS[n % 3] as string;
  const event: AuditEvent = {
    schema: EVENT_SCHEMA,
    event_id: `aud_${n}`,
    occurred_at: '2026-03-10T12:00:00.000Z',
    type: 'policy.changed',
    actor: { kind: 'operator', id: 'root' },
    target: { kind: 'workspace', id: `${tenant_id}-prod` },
    tenant_id,
  };
  return {
    event,
    outgoing: {
      id: event.event_id,
      topic: 'audit-events',
      body: JSON.stringify(event),
      attributes: { type: event.type, tenant_id },
    },
  };
}

/** Everything in a queue, read as its customer would: no consumer, no filter of ours. */
async function readRaw(spine: SpineClients, queue: string): Promise<AuditEvent[]> {
  const QueueUrl = await spine.queueUrl(queue);
  const bodies: string[] = [];
  for (;;) {
    const { Messages } = await spine.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0, VisibilityTimeout: 600 }),
    );
    if (Messages === undefined || Messages.length === 0) return bodies.map((body) => JSON.parse(body) as AuditEvent);
    bodies.push(...Messages.map((message) => message.Body ?? ''));
  }
}

/** Whose records the acme export holds, after 500 audit events of three tenants, on a fresh spine. */
async function exported(
  prepare?: (spine: SpineClients) => Promise<void>,
): Promise<{ sent: AuditEvent[]; held: AuditEvent[]; central: number }> {
  const app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  const spine = createSpineClients({
    endpoint,
    region: LOCAL_REGION,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    await provisionTopology(TOPOLOGY, spine);
    await prepare?.(spine);
    const events = Array.from({ length: 500 }, (_, n) => auditEvent(n));
    // One without a tenant: it belongs to nobody's export.
    const { tenant_id: _tenant, ...attributes } = auditEvent(500).outgoing.attributes;
    expect(
      await createSnsPublisher({ spine }).publish([
        ...events.map(({ outgoing }) => outgoing),
        { ...auditEvent(500).outgoing, attributes },
      ]),
    ).toEqual([]);
    return {
      sent: events.map(({ event }) => event),
      held: await readRaw(spine, 'acme-audit-export'),
      central: (await readRaw(spine, 'audit')).length,
    };
  } finally {
    spine.close();
    await app.close();
  }
}

/** What must hold of the export: all of acme's, once, and nothing else. */
function expectOnlyAcme({ sent, held }: { sent: AuditEvent[]; held: AuditEvent[] }): void {
  const ids = (events: readonly AuditEvent[]): string[] => events.map((event) => event.event_id).toSorted();
  expect(ids(held)).toEqual(ids(sent.filter((event) => event.tenant_id === 'acme')));
}

async function setFilter(spine: SpineClients, FilterPolicy: string): Promise<void> {
  const subscriptions = await listSubscriptions(spine.sns, topicArn('audit-events', await spine.place()));
  const own = subscriptions.find(({ endpoint }) => endpoint.endsWith(':acme-audit-export'));
  await spine.sns.send(
    new SetSubscriptionAttributesCommand({
      SubscriptionArn: own?.arn,
      AttributeName: 'FilterPolicy',
      AttributeValue: FilterPolicy,
    }),
  );
}

describe('the export queue of acme', () => {
  it("holds all of acme's 167 of 500 audit records of three tenants, and nothing else", async () => {
    const result = await exported();
    expectOnlyAcme(result);
    expect(result.held).toHaveLength(167);
    expect(result.central).toBe(501);
  });

  it.each([
    ['removed', '{}'],
    ['that lets a namesake in', '{"tenant_id":[{"prefix":"acme"}]}'],
    ['of another tenant', '{"tenant_id":["globex"]}'],
  ])(
    'is seen to leak or to lack with a filter %s',
    async (_what, policy) => {
      const result = await exported((spine) => setFilter(spine, policy));
      expect(() => expectOnlyAcme(result)).toThrow();
    },
    30_000,
  );
});
