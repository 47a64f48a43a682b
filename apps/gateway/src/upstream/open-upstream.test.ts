import type { InboundCall, PlannedAttempt, ProviderAdapter, StreamReader } from '@sluice/contracts';
import type { Transport, TransportHandlers } from '@sluice/providers';
import { createCancelToken } from '../cancel-token.ts';
import { openUpstream } from './open-upstream.ts';

function boom(): never {
  throw new RangeError('Maximum call stack size exceeded');
}

function open(adapter: Partial<ProviderAdapter>, stream = false) {
  let handlers: TransportHandlers | undefined;
  const log = { released: 0, aborted: 0 };
  const transport: Transport = {
    send(_request, given) {
      handlers = given;
      return { abort: () => (log.aborted += 1), pause: () => undefined, resume: () => undefined };
    },
    close: () => Promise.resolve(),
  };
  const cancel = createCancelToken();
  const result = openUpstream({
    transport,
    adapter: adapter as ProviderAdapter,
    request: { method: 'POST', origin: 'http://x', path: '/', headers: [], body: Buffer.alloc(0) },
    inbound: { stream } as InboundCall,
    attempt: {} as PlannedAttempt,
    attemptIndex: 0,
    cancel,
    connectMs: 1,
    firstByteMs: 1,
    idleMs: 1,
    onReleased: () => (log.released += 1),
    onHeaders: () => undefined,
  });
  return { wire: handlers as unknown as TransportHandlers, result, log, cancel };
}

const EVENTS = { 'content-type': 'text/event-stream' };
const MALFORMED = { kind: 'failed', fault: { kind: 'malformed' } };

describe('an adapter that throws', () => {
  it('at a whole answer ends the attempt as malformed', async () => {
    const { wire, result, log } = open({ readWhole: boom });
    wire.onHeaders(200, {});
    wire.onEnd();
    expect(await result).toMatchObject(MALFORMED);
    expect(log.released).toBe(1);
  });

  it('at an error answer ends the attempt as malformed', async () => {
    const { wire, result, log } = open({ classify: boom });
    wire.onHeaders(500, {});
    wire.onEnd();
    expect(await result).toMatchObject(MALFORMED);
    expect(log.released).toBe(1);
  });

  it('at the head of a stream ends the attempt as malformed and closes the connection', async () => {
    const { wire, result, log } = open({ createStreamReader: boom }, true);
    wire.onHeaders(200, EVENTS);
    expect(await result).toMatchObject(MALFORMED);
    expect(log).toEqual({ released: 1, aborted: 1 });
  });

  it('in the middle of a stream ends it with that fault, once', async () => {
    let pushes = 0;
    const reader = {
      contentSeen: true,
      ended: false,
      push(chunk: Buffer) {
        pushes += 1;
        return pushes > 1 ? boom() : chunk;
      },
    } as unknown as StreamReader;
    const { wire, result, log } = open({ createStreamReader: () => reader }, true);
    wire.onHeaders(200, EVENTS);
    wire.onData(Buffer.from('a'));
    const answer = await result;
    if (answer.kind !== 'stream') throw new Error(answer.kind);
    const ends: unknown[] = [];
    const bytes: string[] = [];
    answer.attach({ onBytes: (chunk) => bytes.push(chunk.toString()), onEnd: (end) => ends.push(end) });
    wire.onData(Buffer.from('b'));
    wire.onEnd();
    expect(bytes).toEqual(['a']);
    expect(ends).toMatchObject([{ kind: 'fault', fault: { kind: 'malformed' } }]);
    expect(answer.fault?.kind).toBe('malformed');
    expect(log).toEqual({ released: 1, aborted: 1 });
  });
});

describe('the slot of an attempt', () => {
  it('is released once, whatever comes after a cancel', async () => {
    const { wire, result, log, cancel } = open({ readWhole: boom });
    wire.onHeaders(200, {});
    cancel.cancel('client_closed');
    wire.onEnd();
    wire.onError({ kind: 'truncated', detail: '' });
    expect(await result).toEqual({ kind: 'cancelled' });
    expect(log.released).toBe(1);
  });
});
