import { z } from 'zod';
import { DeadLetterView, DiscardRequest, DlqState, RedriveAnswer } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { actorOf, param } from './actor.ts';
import type { AuditTrail, QueueAdmin } from './ports.ts';
import { route, type Route, type RouteCall } from './route.ts';

const LookQuery = z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) });

/** Dead letters: how many there are, why, back to their queue, or away for good. */
export function dlqRoutes({
  queues,
  audit,
  onAuditError,
}: {
  queues: QueueAdmin;
  audit: AuditTrail;
  onAuditError: (error: unknown) => void;
}): Route[] {
  const queueOf = (call: RouteCall<unknown, unknown>): string => {
    const queue = param(call, 'queue');
    if (!queues.knows(queue)) throw new ProblemError(404, 'Not found');
    return queue;
  };
  return [
    route({
      method: 'get',
      path: '/api/dlqs',
      auth: 'viewer',
      tag: 'Queues',
      summary: 'Every dead-letter queue',
      response: z.array(DlqState),
      handler: async () =>
        (await queues.readStates()).map(({ queue, dlq, depth, oldest_age_s }) => ({ queue, dlq, depth, oldest_age_s })),
    }),
    route({
      method: 'get',
      path: '/api/dlqs/:queue/messages',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Some dead letters of a queue, each with the reason; they stay where they are',
      query: LookQuery,
      response: z.object({ queue: z.string(), messages: z.array(DeadLetterView) }),
      handler: async (call) => {
        const queue = queueOf(call);
        return { queue, messages: await queues.deadLetters(queue, call.query.limit) };
      },
    }),
    route({
      method: 'post',
      path: '/api/dlqs/:queue/redrive',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Move the dead letters of a queue back to it',
      response: RedriveAnswer,
      handler: async (call) => {
        const queue = queueOf(call);
        const record = { actor: actorOf(call), target: { kind: 'queue', id: queue } };
        await audit.record({ ...record, type: 'dlq.redrive_started' });
        const result = await queues.redrive(queue);
        // It is done by now, so that a missing second record is only reported.
        audit.record({ ...record, type: 'dlq.redriven', after: result }).catch(onAuditError);
        return { queue, ...result };
      },
    }),
    route({
      method: 'post',
      path: '/api/dlqs/:queue/discard',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Delete dead letters for good, by their ids',
      body: DiscardRequest,
      response: z.object({ queue: z.string(), discarded: z.int(), left: z.int() }),
      handler: async (call) => {
        const queue = queueOf(call);
        await audit.record({
          type: 'dlq.discarded',
          actor: actorOf(call),
          target: { kind: 'queue', id: queue },
          after: call.body,
        });
        return { queue, ...(await queues.discard(queue, call.body.message_ids)) };
      },
    }),
  ];
}
