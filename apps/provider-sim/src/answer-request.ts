import type { IncomingMessage, ServerResponse } from 'node:http';
import { HEADER, type SimFault } from '@sluice/contracts';
import type { Dialect } from './dialect.ts';
import { planEmbeddings } from './embeddings.ts';
import { playAnswer, type BreakOff, type Playing } from './play-answer.ts';
import { parseObject, readBody } from './request-body.ts';
import { Refusal, type JsonObject, type SimCall } from './sim-call.ts';
import type { Ending, Stats } from './stats.ts';

/** A call that is being answered. */
export interface LiveCall {
  /** Counts the call as ended by a fault. */
  fail(): void;
}

export interface AnswerDeps {
  readonly dialect: Dialect;
  readonly stats: Stats;
  /** The fault that hits this call. */
  readonly draw: () => SimFault | undefined;
  readonly slots: number;
  readonly live: Set<LiveCall>;
}

const GARBAGE = '<html>\u0000{"choices": [}{ not what you asked for';
const DEFAULT_SLOW_MS = 1000;
const DEFAULT_AFTER_CHUNKS = 3;

/** The request handler of one provider. */
export function createAnswerRequest(deps: AnswerDeps): (req: IncomingMessage, res: ServerResponse) => void {
  const { dialect } = deps;
  const embeddingsPath = dialect.path === '/v1/chat/completions' ? '/v1/embeddings' : undefined;

  function reply(res: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(body);
  }
  function refuse(res: ServerResponse, error: unknown): void {
    const status = error instanceof Refusal ? error.status : 500;
    reply(res, status, dialect.error(status, error instanceof Refusal ? error.message : 'Internal error'));
  }

  /** Faults that need not know the request. @returns whether one answered. */
  function failAtOnce(res: ServerResponse, fault: SimFault | undefined): boolean {
    if (fault?.kind === 'down') {
      res.destroy();
      return true;
    }
    if (fault?.kind !== 'error' && fault?.kind !== 'rate_limit') return false;
    const status = fault.kind === 'rate_limit' ? 429 : (fault.status ?? 500);
    const retryAfter = fault.retry_after_s ?? (fault.kind === 'rate_limit' ? 1 : undefined);
    answerError(res, status, `Simulated fault: ${fault.kind}`, retryAfter);
    return true;
  }

  function answerError(res: ServerResponse, status: number, text: string, retryAfterS: number | undefined): void {
    const headers: Record<string, string> =
      retryAfterS === undefined ? {} : { [HEADER.retryAfter]: String(retryAfterS) };
    reply(res, status, dialect.error(status, text), headers);
  }

  function side(
    method: string,
    path: string,
    req: IncomingMessage,
    res: ServerResponse,
    fault: SimFault | undefined,
  ): void {
    readBody(req, (raw) => {
      if (failAtOnce(res, fault)) return;
      try {
        if (raw instanceof Refusal) throw raw;
        const answer = dialect.side(method, path, () => parseObject(raw));
        if (answer === undefined) throw new Refusal(404, `There is no ${method} ${path}`);
        reply(res, 200, JSON.stringify(answer));
      } catch (error) {
        refuse(res, error);
      }
    });
  }

  function generate(req: IncomingMessage, res: ServerResponse, embeddings: boolean): void {
    const marker = req.headers[HEADER.tenantMarker];
    const requestId = req.headers[HEADER.clientRequestId];
    const record = deps.stats.arrive(
      typeof marker === 'string' ? marker : undefined,
      typeof requestId === 'string' ? requestId.slice(0, 200) : undefined,
    );
    let playing: Playing | undefined;
    /** How the call counts once its connection is done with an answer that was sent to its end. */
    let whenSent: Ending = 'refused';
    const live: LiveCall = { fail: () => record.end('failed', playing?.generated() ?? 0) };
    deps.live.add(live);
    res.on('close', () => {
      playing?.stop();
      deps.live.delete(live);
      record.end(res.writableFinished ? whenSent : 'cancelled', playing?.generated() ?? 0);
    });
    const fault = deps.draw();

    function start(body: JsonObject): void {
      let answer: string | undefined;
      let call: SimCall;
      if (embeddings) ({ call, answer } = planEmbeddings(body));
      else call = dialect.plan(body);
      record.know(call);
      if (fault !== undefined && failAtOnce(res, fault)) return live.fail();
      if (call.fail !== undefined) {
        live.fail();
        answerError(res, call.fail.status, 'This call was asked to fail', call.fail.retry_after_s);
        return;
      }
      if (fault?.kind === 'garbage') {
        live.fail();
        res.writeHead(200, { 'content-type': call.stream ? 'text/event-stream' : 'application/json' });
        res.end(call.stream ? `data: ${GARBAGE}\n\n` : GARBAGE);
        return;
      }
      if (deps.stats.inFlight >= deps.slots)
        throw new Refusal(dialect.overloadStatus, `All ${deps.slots} slots are busy`);
      record.begin();
      whenSent = 'completed';
      playing = playAnswer({
        res,
        dialect: answer === undefined ? dialect : { ...dialect, whole: () => answer },
        call: fault?.kind === 'no_usage' ? { ...call, omitUsage: true } : call,
        latencyMs: fault?.kind === 'slow' ? (fault.latency_ms ?? DEFAULT_SLOW_MS) : 0,
        breakOff: breakOffOf(fault),
        onCut: live.fail,
      });
    }

    readBody(req, (raw) => {
      if (fault?.kind === 'down') {
        live.fail();
        res.destroy();
        return;
      }
      try {
        if (raw instanceof Refusal) throw raw;
        start(parseObject(raw));
      } catch (error) {
        refuse(res, error);
      }
    });
  }

  return function answerRequest(req, res) {
    const method = req.method ?? 'GET';
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    if (!/^Bearer \S/i.test(req.headers.authorization ?? '') && !req.headers['x-api-key']) {
      req.resume();
      return refuse(res, new Refusal(401, 'A bearer token or an x-api-key is required'));
    }
    if (method === 'POST' && path === dialect.path) return generate(req, res, false);
    if (method === 'POST' && path === embeddingsPath) return generate(req, res, true);
    side(method, path, req, res, deps.draw());
  };
}

function breakOffOf(fault: SimFault | undefined): BreakOff | undefined {
  if (fault?.kind !== 'cut_stream' && fault?.kind !== 'stall') return undefined;
  return { how: fault.kind === 'stall' ? 'stall' : 'cut', after: fault.after_chunks ?? DEFAULT_AFTER_CHUNKS };
}
