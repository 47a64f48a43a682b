import type { IncomingMessage } from 'node:http';
import { createAdapterRegistry } from '@sluice/providers';
import { createFakeClock } from '@sluice/testing';
import type { Call, Resolved } from '../../call.ts';
import { createCompiler } from '../../config/compile.ts';
import { SAMPLE_NOW_MS } from '../../testing/front-server.ts';
import { SAMPLE_KEYS, sampleSnapshot, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import { createSilentLog } from '../../testing/silent-log.ts';
import { createPlanner } from '../route/planner.ts';
import { createResolveStage } from './resolve.ts';

interface Given {
  body?: object;
  headers?: Record<string, string>;
  key?: keyof typeof SAMPLE_KEYS;
  change?: (raw: RawSnapshot) => void;
  operation?: Call['operation'];
}

function resolve({ body = {}, headers = {}, key = 'acme', change, operation = 'chat' }: Given) {
  const config = createCompiler({ logger: createSilentLog() })(sampleSnapshot(change));
  const json = { model: 'sim-small', messages: [{ role: 'user', content: 'x' }], ...body };
  const call = {
    operation,
    config,
    key: config.keys.get(SAMPLE_KEYS[key].split('-')[2] as string),
    json,
    body: Buffer.from(JSON.stringify(json)),
    request: { headers } as unknown as IncomingMessage,
    resolved: undefined,
  } as unknown as Call;
  const refusal = createResolveStage({ clock: createFakeClock(SAMPLE_NOW_MS), planner: createPlanner({ adapters: createAdapterRegistry().get }) }).run(call);
  return { refusal, resolved: call.resolved as Resolved | undefined };
}

const ids = (resolved: Resolved | undefined) => resolved?.candidates.map((model) => model.id);
const kill = (scope: string, target?: string) => (raw: RawSnapshot) => {
  raw.killSwitches[`${scope}-${target}`] = { id: `${scope}-${target}`, scope, ...(target === undefined ? {} : { target }), message: 'Back at noon.', retryAfterSeconds: 90 };
};

it('an alias names a catalogue model, and what the caller wrote is kept', () => {
  const { resolved } = resolve({ body: { model: 'fast', max_completion_tokens: 9, n: 2, user: 'u1', stream: true, stream_options: { include_usage: true } } });
  expect(ids(resolved)).toEqual(['sim-small']);
  expect(resolved).toMatchObject({ modelRequested: 'fast', pinned: false, maxOutputTokens: 9, choices: 2, endUser: 'u1', priceVersion: 3 });
  expect(resolved?.inbound).toMatchObject({ stream: true, wantsUsage: true });
});

it.each([
  ['secondary/sim-small', 'secondary'],
  ['primary/sim-small-v1', 'primary'],
  ['sim-small-v1', 'primary'],
])('the pin %s leaves only the provider that it names', (model, provider) => {
  const { resolved } = resolve({ body: { model } });
  expect(resolved?.pinned).toBe(true);
  expect(resolved?.candidates[0].offers.map((offer) => offer.provider)).toEqual([provider]);
});

it('a feature puts its model before the one that was asked for, and never overrides a pin', () => {
  const headers = { 'x-sluice-feature': 'summary' };
  expect(ids(resolve({ headers }).resolved)).toEqual(['sim-large', 'sim-small']);
  expect(ids(resolve({ headers, body: { model: 'primary/sim-small' } }).resolved)).toEqual(['sim-small']);
});

it('a request cannot override the tags of its key', () => {
  expect(resolve({ headers: { 'x-sluice-tags': 'team=other,build=7' } }).resolved?.tags).toEqual({ team: 'search', build: '7' });
});

it('a model that the key may not use is answered like one that does not exist', () => {
  const forbidden = resolve({ key: 'narrow' }).refusal;
  expect(forbidden).toEqual({ code: 'model_not_found', param: 'model', message: "The model 'sim-small' does not exist or this key may not use it." });
  expect(resolve({ key: 'narrow', body: { model: 'sim-large' } }).refusal).toBeUndefined();
});

it.each([
  ['all', undefined],
  ['workspace', 'acme-prod'],
  ['model', 'sim-small'],
  ['feature', 'summary'],
])('a kill switch on %s answers with the operator\'s message and wait', (scope, target) => {
  const { refusal } = resolve({ change: kill(scope, target), headers: { 'x-sluice-feature': 'summary' } });
  expect(refusal).toEqual({ code: 'kill_switch', message: 'Back at noon.', retryAfterMs: 90_000 });
});

it('a kill switch on one provider leaves the other; on all providers it refuses', () => {
  expect(resolve({ change: kill('provider', 'primary') }).refusal).toBeUndefined();
  const both = (raw: RawSnapshot): void => {
    kill('provider', 'primary')(raw);
    kill('provider', 'secondary')(raw);
  };
  expect(resolve({ change: both }).refusal).toMatchObject({ code: 'kill_switch' });
});

it('another workspace goes on under a workspace\'s kill switch, and a suspended tenant is refused', () => {
  expect(resolve({ key: 'globex', change: kill('workspace', 'acme-prod') }).refusal).toBeUndefined();
  const { refusal } = resolve({ change: (raw) => void ((raw.tenants.acme as Record<string, unknown>).status = 'suspended') });
  expect(refusal).toEqual({ code: 'workspace_suspended' });
});

it('a model without the ability is refused for the operation', () => {
  expect(resolve({ body: { model: 'embedder' } }).refusal).toMatchObject({ code: 'invalid_value', param: 'model' });
  expect(resolve({ operation: 'embeddings', body: { model: 'embedder', input: 'x' } }).refusal).toBeUndefined();
});

it('the bound is the one that the dialect knows, or a caller could reserve less than it may use', () => {
  const boundOf = (operation: 'chat' | 'messages', fields: object) => resolve({ operation, body: { max_tokens: 500, ...fields } }).resolved?.maxOutputTokens;
  expect(boundOf('chat', { max_tokens: undefined, max_output_tokens: 1 })).toBeUndefined();
  expect(boundOf('chat', { max_completion_tokens: 1 })).toBe(500);
  expect(boundOf('messages', { max_completion_tokens: 1, max_output_tokens: 1 })).toBe(500);
});
