import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Response } from 'express';
import { EXPOSED_HEADERS, HEADER, PlaygroundRequest, PRINCIPAL_HEADER, type Clock } from '@sluice/contracts';
import { ProblemError, signPrincipal } from '@sluice/service-kit';
import { NoQuery } from '../routes/query.ts';
import type { ScopedCall, ScopedRoute } from '../routes/scoped-route.ts';
import type { PlaygroundPool } from './pool.ts';

/** A gateway that says nothing at all for this long has hung; it sends heartbeats in quiet streams. */
const SILENCE_MS = 120_000;
const PASSED_HEADERS = new Set([...EXPOSED_HEADERS, 'content-type']);

export interface PlaygroundDeps {
  gatewayUrl: string;
  principalKey: string;
  clock: Pick<Clock, 'now'>;
  pool: PlaygroundPool;
}

/**
 * One chat call in the person's own name: the gateway is told who acts in which workspace, and its answer passes as
 * it comes.
 */
export function playgroundRoute(deps: PlaygroundDeps): ScopedRoute {
  return {
    method: 'post',
    path: '/api/playground',
    summary: 'One chat call in the own name; the gateway’s stream, or its refusal',
    permission: 'keys:write',
    query: NoQuery,
    body: PlaygroundRequest,
    stream: (call, _req, res) => play(deps, call, res),
  };
}

async function play(
  { gatewayUrl, principalKey, clock, pool }: PlaygroundDeps,
  { principal, slug, body }: ScopedCall,
  res: Response,
): Promise<void> {
  const leave = pool.enter(principal.userId, slug);
  try {
    const { model, messages, max_tokens, temperature, feature } = body as PlaygroundRequest;
    const text = JSON.stringify({
      model,
      messages: messages.map(({ role, content }) => ({ role, content })),
      stream: true,
      ...(max_tokens === undefined ? {} : { max_tokens }),
      ...(temperature === undefined ? {} : { temperature }),
    });
    // The gateway is told of no more than the one role that it needs.
    const role = principal.roles[slug];
    const acting = { ...principal, roles: role === undefined ? {} : { [slug]: role } };
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      [PRINCIPAL_HEADER]: signPrincipal(acting, principalKey, clock),
      [HEADER.actWorkspace]: slug,
      [HEADER.usageEvent]: 'true',
      ...(feature === undefined ? {} : { [HEADER.feature]: feature }),
    };
    await pass(new URL('/v1/chat/completions', gatewayUrl), headers, text, pool, res);
  } finally {
    leave();
  }
}

/** Resolves when the answer has ended either way. Who closes the page cancels the call. */
function pass(
  url: URL,
  headers: Record<string, string>,
  body: string,
  pool: PlaygroundPool,
  res: Response,
): Promise<void> {
  return new Promise((done, failed) => {
    const call =
      url.protocol === 'https:'
        ? httpsRequest(url, { method: 'POST', headers })
        : httpRequest(url, { method: 'POST', headers, agent: pool.agent });
    call.setTimeout(SILENCE_MS, () => call.destroy(new Error('the gateway is silent')));
    res.on('close', () => {
      call.destroy();
      done();
    });
    call.on('response', (answer) => {
      copyHead(answer, res);
      answer.pipe(res);
      answer.on('error', () => res.destroy());
      answer.on('end', done);
    });
    call.on('error', (error) => {
      if (res.headersSent || res.destroyed) {
        res.destroy();
        done();
      } else
        failed(
          new ProblemError(502, 'The gateway does not answer', { detail: 'Try again in a moment.', cause: error }),
        );
    });
    call.end(body);
  });
}

/**
 * Headers are chosen one by one: nothing that a gateway adds passes by itself. The request id of the gateway is the
 * one that the requests page knows.
 */
function copyHead(answer: IncomingMessage, res: Response): void {
  res.status(answer.statusCode ?? 502);
  for (const [name, value] of Object.entries(answer.headers))
    if (PASSED_HEADERS.has(name) && typeof value === 'string') res.setHeader(name, value);
  res.setHeader('cache-control', 'private, no-store, no-transform');
  res.setHeader('x-accel-buffering', 'no');
  res.flushHeaders();
}
