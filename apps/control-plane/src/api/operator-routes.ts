import { z } from 'zod';
import { CreateKeyResponse, DlqState, KillSwitch, RotateKeyRequest, type Clock } from '@sluice/contracts';
import type { ConfigStore } from '../config/config-store.ts';
import { actorOf, param } from './actor.ts';
import { editRow } from './config-edit.ts';
import { revokeKey } from './key-routes.ts';
import type { AuditTrail, QueueAdmin } from './ports.ts';
import { rotateKey } from './rotate-key.ts';
import { route, type Route } from './route.ts';

/** What an operator does by hand: rotate and revoke keys, throw kill switches, redrive dead letters. */
export function operatorRoutes({ store, queues, audit, clock }: { store: ConfigStore; queues: QueueAdmin; audit: AuditTrail; clock: Clock }): Route[] {
  return [
    route({
      method: 'delete',
      path: '/api/keys/:keyId',
      auth: 'operator',
      tag: 'Keys',
      summary: 'Revoke a key on every gateway',
      status: 204,
      handler: (call) => revokeKey(store, call, param(call, 'keyId')),
    }),
    route({
      method: 'post',
      path: '/api/keys/:keyId/rotate',
      auth: 'operator',
      tag: 'Keys',
      summary: 'Make a key like this one, which expires after a grace time; the answer is the only time the new key is shown',
      status: 201,
      body: RotateKeyRequest,
      response: CreateKeyResponse,
      handler: (call) => rotateKey(store, clock, call, param(call, 'keyId'), call.body.graceSeconds),
    }),
    route({
      method: 'put',
      path: '/api/kill-switches/:id',
      auth: 'operator',
      tag: 'Kill switches',
      summary: 'Switch a provider, model, feature, workspace or everything off',
      body: KillSwitch,
      response: z.object({ id: z.string(), version: z.int() }),
      handler: async (call) => {
        const id = param(call, 'id');
        return { id, version: await editRow(store, call, { table: 'killSwitches', id, value: call.body, type: 'kill_switch.set' }) };
      },
    }),
    route({
      method: 'delete',
      path: '/api/kill-switches/:id',
      auth: 'operator',
      tag: 'Kill switches',
      summary: 'Switch it on again',
      status: 204,
      handler: async (call) => {
        await editRow(store, call, { table: 'killSwitches', id: param(call, 'id'), type: 'kill_switch.cleared' });
      },
    }),
    route({
      method: 'get',
      path: '/api/dlqs',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Every dead-letter queue',
      response: z.array(DlqState),
      handler: async () => (await queues.readStates()).map(({ queue, dlq, depth, oldest_age_s }) => ({ queue, dlq, depth, oldest_age_s })),
    }),
    route({
      method: 'post',
      path: '/api/dlqs/:queue/redrive',
      auth: 'operator',
      tag: 'Queues',
      summary: 'Move the dead letters of a queue back to it',
      response: z.object({ queue: z.string(), moved: z.int() }),
      handler: async (call) => {
        const queue = param(call, 'queue');
        await audit.record({ type: 'dlq.redriven', actor: actorOf(call), target: { kind: 'queue', id: queue } });
        return { queue, moved: await queues.redrive(queue) };
      },
    }),
  ];
}
