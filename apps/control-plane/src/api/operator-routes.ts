import { z } from 'zod';
import { CreateKeyResponse, KillSwitch, RotateKeyRequest, type Clock } from '@sluice/contracts';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow } from './config-edit.ts';
import { revokeKey } from './key-routes.ts';
import { rotateKey } from './rotate-key.ts';
import { route, type Route } from './route.ts';

/** What an operator does by hand: rotate and revoke keys, throw kill switches. */
export function operatorRoutes({ store, clock }: { store: ConfigStore; clock: Clock }): Route[] {
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
  ];
}
