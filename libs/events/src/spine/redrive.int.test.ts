import {
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { DEAD_LETTER_REASON, LOCAL_REGION, TOPOLOGY, type QueueDeclaration } from '@sluice/contracts';
import { discardDeadLetters, readDeadLetters } from './dead-letters.ts';
import { provisionTopology } from './provisioner.ts';
import { queueDepth } from './queue-states.ts';
import { redrive } from './redrive.ts';
import { createSpineClients, type SpineClients } from './spine-clients.ts';

const audit = TOPOLOGY.queues.find((queue) => queue.name === 'audit') as QueueDeclaration;
const text = (StringValue: string) => ({ DataType: 'String', StringValue });

let app: ReturnType<typeof buildApp>;
let spine: SpineClients;
beforeEach(async () => {
  app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  spine = createSpineClients({
    endpoint,
    region: LOCAL_REGION,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await provisionTopology(TOPOLOGY, spine);
});
afterEach(async () => {
  spine.close();
  await app.close();
});

async function bury(count: number): Promise<void> {
  const QueueUrl = await spine.queueUrl(audit.dlq);
  for (let n = 0; n < count; n += 1) {
    await spine.sqs.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: JSON.stringify({ n }),
        MessageAttributes: { type: text('key.created'), n: text(String(n)), [DEAD_LETTER_REASON]: text('no luck') },
      }),
    );
  }
}

/** Everything that waits in the queue, taken out. */
async function taken(): Promise<{ body: string; attributes: string[] }[]> {
  const QueueUrl = await spine.queueUrl(audit.name);
  const out: { body: string; attributes: string[] }[] = [];
  for (;;) {
    const { Messages = [] } = await spine.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 0,
        MessageAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return out;
    out.push(
      ...Messages.map((message) => ({
        body: message.Body ?? '',
        attributes: Object.entries(message.MessageAttributes ?? {})
          .map(([name, value]) => `${name}=${value.StringValue}`)
          .sort(),
      })),
    );
  }
}

/** The same clients, with `before` asked about each command; what it returns is the answer. */
function intercepted(before: (command: object) => Promise<object> | undefined): SpineClients {
  const sqs = new Proxy(spine.sqs, {
    get: (target, name) =>
      name === 'send'
        ? (command: object, ...rest: unknown[]) =>
            before(command) ?? Reflect.apply(target.send, target, [command, ...rest])
        : Reflect.get(target, name),
  });
  return { ...spine, sqs };
}

describe('redrive', () => {
  it('moves every dead letter with its attributes, and leaves its reason behind', async () => {
    await bury(23);
    expect(await redrive(audit, spine)).toEqual({ moved: 23, left: 0, refused: 0, native: false, finished: true });
    const back = await taken();
    expect(back.map(({ body }) => (JSON.parse(body) as { n: number }).n).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 23 }, (_, n) => n),
    );
    expect(back[0]?.attributes).toHaveLength(2);
    expect(back.every(({ attributes }) => attributes.includes('type=key.created'))).toBe(true);
  });

  it('stops at its bounds and says what is left', async () => {
    await bury(15);
    expect(await redrive(audit, spine, { maxMessages: 10 })).toMatchObject({ moved: 10, left: 5, finished: false });
    expect(await redrive(audit, spine, { timeoutMs: 0 })).toMatchObject({ moved: 0, left: 5, finished: false });
    expect(await redrive(audit, spine)).toMatchObject({ moved: 5, left: 0, finished: true });
  });

  it('loses nothing when it dies between sending and deleting: what was sent is there twice', async () => {
    await bury(5);
    let crashed = false;
    const crashing = intercepted((command) => {
      if (!crashed && command.constructor.name === 'DeleteMessageBatchCommand') {
        crashed = true;
        return Promise.reject(new Error('the process died'));
      }
      return undefined;
    });
    expect(await redrive(audit, crashing)).toMatchObject({
      moved: 0,
      left: 5,
      finished: false,
      fault: 'the process died',
    });
    expect(new Set((await taken()).map(({ body }) => body)).size).toBe(5);
    expect(await queueDepth(spine, audit.dlq)).toEqual({ waiting: 0, inFlight: 5 });
  });

  it('goes on past a message that the queue refuses, and leaves that one where it is', async () => {
    await bury(12);
    const refusal = Object.assign(new Error('no'), { name: 'InvalidMessageContents', $fault: 'client' });
    const picky = intercepted((command) => {
      if (command instanceof SendMessageBatchCommand) {
        const entries = command.input.Entries ?? [];
        if (entries.some((entry) => entry.MessageBody === '{"n":3}')) return Promise.resolve({ Successful: [] });
      }
      return command instanceof SendMessageCommand && command.input.MessageBody === '{"n":3}'
        ? Promise.reject(refusal)
        : undefined;
    });
    expect(await redrive(audit, picky)).toMatchObject({ moved: 11, left: 1, refused: 1, finished: true });
    expect(await queueDepth(spine, audit.dlq)).toEqual({ waiting: 1, inFlight: 0 });
    expect(await taken()).toHaveLength(11);
  });

  it('brings back JSON that holds characters which a direct send refuses, with the same meaning', async () => {
    const body = JSON.stringify({ name: 'Büro 🚀' });
    await bury(1);
    const carrying = intercepted((command) =>
      command instanceof ReceiveMessageCommand
        ? spine.sqs.send(command).then((answer) => ({
            ...answer,
            Messages: answer.Messages?.map((message) => ({ ...message, Body: body })),
          }))
        : undefined,
    );
    expect(await redrive(audit, carrying)).toMatchObject({ moved: 1, refused: 0 });
    expect((await taken()).map((message) => JSON.parse(message.body))).toEqual([{ name: 'Büro 🚀' }]);
  });

  it('leaves the moving to SQS where it has a task for it, and reports its progress', async () => {
    await bury(2);
    let looks = 0;
    const started: unknown[] = [];
    const native = intercepted((command) => {
      if (command instanceof StartMessageMoveTaskCommand) {
        started.push(command.input);
        return Promise.resolve({ TaskHandle: 't' });
      }
      if (!(command instanceof ListMessageMoveTasksCommand)) return undefined;
      looks += 1;
      return Promise.resolve({
        Results: [{ Status: looks < 3 ? 'RUNNING' : 'COMPLETED', ApproximateNumberOfMessagesMoved: looks }],
      });
    });
    expect(await redrive(audit, native, { pollMs: 1 })).toMatchObject({ native: true, moved: 3, finished: true });
    expect(started).toEqual([
      {
        SourceArn: 'arn:aws:sqs:eu-central-1:000000000000:audit-dlq',
        DestinationArn: 'arn:aws:sqs:eu-central-1:000000000000:audit',
      },
    ]);
    looks = 0;
    expect(await redrive(audit, native, { pollMs: 1, timeoutMs: 0 })).toMatchObject({
      native: true,
      moved: 1,
      left: 2,
      finished: false,
    });
  });

  it('refuses where the queue does not exist', async () => {
    await expect(redrive({ ...audit, dlq: 'nowhere-dlq' }, spine)).rejects.toThrow();
  });
});

describe('looking at dead letters', () => {
  it('shows them with their reasons and leaves them there', async () => {
    await bury(12);
    const seen = await readDeadLetters(audit, spine, 11);
    expect(seen).toHaveLength(11);
    expect(seen[0]).toMatchObject({ reason: 'no luck', attributes: { type: 'key.created' }, body_bytes: 7 });
    expect(Object.keys(seen[0]?.attributes ?? {})).not.toContain(DEAD_LETTER_REASON);
    expect(await queueDepth(spine, audit.dlq)).toEqual({ waiting: 12, inFlight: 0 });
  });

  it('discards the ones that are named and no other', async () => {
    await bury(5);
    const ids = (await readDeadLetters(audit, spine, 5)).map((letter) => letter.message_id);
    expect(await discardDeadLetters(audit, spine, [ids[1] ?? '', 'unknown'])).toEqual({ discarded: 1, left: 4 });
    expect((await readDeadLetters(audit, spine, 10)).map((letter) => letter.message_id).sort()).toEqual(
      ids.filter((_, n) => n !== 1).sort(),
    );
  });
});
