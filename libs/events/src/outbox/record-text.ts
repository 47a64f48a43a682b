import type { CallAttempt, CallSettled, CallStarted, EventOrigin, TokenUsage } from '@sluice/contracts';
import { jsonString as text, optionalMember as optional } from '@sluice/service-kit';

type Unplaced = Omit<CallSettled, keyof EventOrigin>;

/** What both records begin with, written once per call and record. */
type Identity = Pick<CallStarted, 'schema' | 'event_id' | 'occurred_at' | 'traceparent' | IdentityKey>;
type IdentityKey =
  'request_id' | 'client_request_id' | 'tenant_id' | 'workspace' | 'workspace_id' | 'cell_id' | 'key_id' | 'operation' | 'stream' | 'model_requested' | 'feature' | 'tags' | 'end_user';

type Routed = 'decision' | 'shadow';

/** Fails to compile when the contract has a member that is not written below. */
type Nothing<Left extends never> = Left;
export type StartedLeft = Nothing<Exclude<keyof CallStarted, keyof Identity | 'type' | 'reservation' | 'provider' | 'model' | 'price_version' | 'billed_price' | 'provider_price' | 'priority' | Routed>>;
export type SettledLeft = Nothing<
  Exclude<
    keyof Unplaced,
    | keyof Identity | 'type' | 'outcome' | 'error_code' | 'status' | 'abort_case' | 'provider' | 'model' | 'fallback' | 'fallback_reason' | 'decision_id' | 'priority'
    | 'cache' | Routed | 'usage' | 'usage_source' | 'cost_nanousd' | 'billed_nanousd' | 'price_version' | 'estimate' | 'finish_reason' | 'latency' | 'attempts'
  >
>;

/**
 * The JSON text of a call's start: what `JSON.stringify` gives, up to the order of members, at half of its cost. Two of
 * these are written for each call.
 */
export function startedText(event: CallStarted): string {
  const { reservation, billed_price: billed, provider_price: paid } = event;
  return (
    `${identityText(event, 'call.started')},"reservation":{"input_tokens":${n(reservation.input_tokens)},"output_tokens":${n(reservation.output_tokens)},"cost_nanousd":${n(reservation.cost_nanousd)}}` +
    `,"provider":${text(event.provider)},"model":${text(event.model)},"price_version":${n(event.price_version)}` +
    `,"billed_price":{"input_picousd":${n(billed.input_picousd)},"output_picousd":${n(billed.output_picousd)}}` +
    (paid === undefined ? '' : `,"provider_price":{"input_picousd":${n(paid.input_picousd)},"output_picousd":${n(paid.output_picousd)}}`) +
    `,"priority":"${event.priority}"${routedText(event)}}`
  );
}

/** The JSON text of a call's end, without its last brace: the outbox adds the record's place. */
export function settledText(event: Unplaced): string {
  const { usage, estimate, latency, attempts } = event;
  let out =
    `${identityText(event, 'call.settled')},"outcome":"${event.outcome}"${optional('error_code', event.error_code)},"status":${n(event.status)},"abort_case":"${event.abort_case}"` +
    `${optional('provider', event.provider)}${optional('model', event.model)},"fallback":${event.fallback}${optional('fallback_reason', event.fallback_reason)}` +
    `${optional('decision_id', event.decision_id)}${routedText(event)},"priority":"${event.priority}","cache":"${event.cache}","usage":${usageText(usage)},"usage_source":"${event.usage_source}"` +
    `,"cost_nanousd":${n(event.cost_nanousd)},"billed_nanousd":${n(event.billed_nanousd)},"price_version":${n(event.price_version)}` +
    `,"estimate":{"input_tokens":${n(estimate.input_tokens)},"output_tokens":${n(estimate.output_tokens)}}${optional('finish_reason', event.finish_reason)}` +
    `,"latency":{"overhead_us":${n(latency.overhead_us)},"queue_ms":${n(latency.queue_ms)}${number('ttfb_ms', latency.ttfb_ms)},"total_ms":${n(latency.total_ms)}},"attempts":[`;
  for (let i = 0; i < attempts.length; i += 1) out += (i === 0 ? '' : ',') + attemptText(attempts[i] as CallAttempt);
  return `${out}]`;
}

/** Nothing for a call whose model was given, which is nearly every one. */
function routedText({ decision, shadow }: Pick<CallSettled, Routed>): string {
  if (decision === undefined) return '';
  return `,"decision":${JSON.stringify(decision)}${shadow === undefined ? '' : `,"shadow":${JSON.stringify(shadow)}`}`;
}

function identityText(event: Identity, type: string): string {
  return (
    `{"schema":"${event.schema}","event_id":${text(event.event_id)},"type":"${type}","occurred_at":"${event.occurred_at}"${optional('traceparent', event.traceparent)}` +
    `,"request_id":${text(event.request_id)}${optional('client_request_id', event.client_request_id)}${ownerText(event)},"operation":"${event.operation}","stream":${event.stream}` +
    `,"model_requested":${text(event.model_requested)}${optional('feature', event.feature)},"tags":${tagsText(event.tags)}${optional('end_user', event.end_user)}`
  );
}

type Owner = Pick<Identity, 'tenant_id' | 'workspace' | 'workspace_id' | 'cell_id'>;

/** Keys whose part is kept; beyond that all are forgotten. */
const MAX_OWNERS = 10_000;
const owners = new Map<string, Owner & { readonly text: string }>();

/** Whose call it is: the same in all calls of a key until its workspace is moved. */
function ownerText(event: Identity): string {
  const known = owners.get(event.key_id);
  if (known !== undefined && isSameOwner(known, event)) return known.text;
  const made = `,"tenant_id":${text(event.tenant_id)},"workspace":${text(event.workspace)},"workspace_id":${text(event.workspace_id)},"cell_id":${text(event.cell_id)},"key_id":${text(event.key_id)}`;
  if (owners.size >= MAX_OWNERS) owners.clear();
  owners.set(event.key_id, { tenant_id: event.tenant_id, workspace: event.workspace, workspace_id: event.workspace_id, cell_id: event.cell_id, text: made });
  return made;
}

function isSameOwner(a: Owner, b: Owner): boolean {
  return a.tenant_id === b.tenant_id && a.workspace === b.workspace && a.workspace_id === b.workspace_id && a.cell_id === b.cell_id;
}

/** Tags are a key's own and the same object in each of its calls, or a caller's. */
const textOfTags = new WeakMap<object, string>();

function tagsText(tags: Readonly<Record<string, string>>): string {
  let known = textOfTags.get(tags);
  if (known === undefined) textOfTags.set(tags, (known = JSON.stringify(tags)));
  return known;
}

function attemptText(attempt: CallAttempt): string {
  return (
    `{"index":${n(attempt.index)},"provider":${text(attempt.provider)},"credential":${text(attempt.credential)},"model":${text(attempt.model)}` +
    `,"provider_model":${text(attempt.provider_model)},"outcome":"${attempt.outcome}"${number('status', attempt.status)},"usage":${usageText(attempt.usage)}` +
    `,"usage_source":"${attempt.usage_source}","cost_nanousd":${n(attempt.cost_nanousd)},"queue_ms":${n(attempt.queue_ms)}${number('ttfb_ms', attempt.ttfb_ms)},"duration_ms":${n(attempt.duration_ms)}}`
  );
}

function usageText(usage: TokenUsage): string {
  return `{"input":${n(usage.input)},"cache_read":${n(usage.cache_read)},"cache_write":${n(usage.cache_write)},"output":${n(usage.output)},"reasoning":${n(usage.reasoning)},"audio":${n(usage.audio)}}`;
}

function number(name: string, value: number | undefined): string {
  return value === undefined ? '' : `,"${name}":${n(value)}`;
}

/** As `JSON.stringify` writes it: what is no number that JSON knows spoils its own field, not the whole record. */
function n(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}
