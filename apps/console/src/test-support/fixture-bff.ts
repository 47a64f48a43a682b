import {
  ALERTS,
  BILLING,
  DELIVERIES,
  KEYS,
  MEMBERS,
  MODELS,
  OVERVIEW,
  policyOf,
  REQUEST,
  REQUESTS,
  seriesOf,
  SESSION,
  SESSIONS,
  usageOf,
  WEBHOOKS,
} from './fixture-views.ts';
import type { SeriesView, UsageView } from '@sluice/contracts';

export interface FixtureAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text as it is. */
  readonly body?: unknown;
}

export interface FixtureCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
}

type Route = FixtureAnswer | ((call: FixtureCall) => FixtureAnswer);

/** A backend that answers by its schemas from memory. */
export interface FixtureBff {
  /** `GET /api/overview` → what it answers; to be changed by a test. */
  readonly routes: Record<string, Route>;
  /** What was asked, as `GET /api/overview?workspace=acme-prod`. */
  readonly asked: string[];
  /** Bodies that were sent, by `METHOD /path`. */
  readonly sent: { readonly call: string; readonly body: unknown }[];
  answer(method: string, url: string, headers: Headers, body: string | undefined): FixtureAnswer;
}

const json = (body: unknown): FixtureAnswer => ({ status: 200, body });
/** A problem as the backend answers it. */
export const problem = (status: number, title: string, more: object = {}): FixtureAnswer => ({
  status,
  body: { type: 'about:blank', title, status, request_id: 'req_problem', ...more },
});

/** What the playground's call gives: three words, then what they cost. */
const STREAM = [
  'data: {"choices":[{"delta":{"role":"assistant","content":"Water"}}]}',
  'data: {"choices":[{"delta":{"content":" flows"}}]}',
  ': still here',
  'data: {"choices":[{"delta":{"content":" down."},"finish_reason":"stop"}]}',
  'event: usage\ndata: {"tokens":{"input":11,"output":3},"cost_nanousd":78000,"latency_ms":812,"model":"sim-large","provider":"secondary"}',
  'data: [DONE]',
]
  .map((event) => `${event}\n\n`)
  .join('');

export function createFixtureBff(): FixtureBff {
  const routes: Record<string, Route> = {
    'GET /api/session': json(SESSION),
    'POST /api/session': json(SESSION),
    'DELETE /api/session': { status: 204 },
    'GET /api/sessions': json(SESSIONS),
    'GET /api/overview': json(OVERVIEW),
    'GET /api/series': ({ query }) => json(seriesOf(query.get('metric') as SeriesView['metric'])),
    'GET /api/usage': ({ query }) => json(usageOf((query.get('by') ?? 'model') as UsageView['by'])),
    'GET /api/requests': json({ rows: REQUESTS, next_cursor: null }),
    'GET /api/requests/:id': json(REQUEST),
    'GET /api/models': json(MODELS),
    'GET /api/keys': json(KEYS),
    'GET /api/policy': json(policyOf({ limits: { requests: { perSecond: 20, burst: 40 } } }, 7)),
    'GET /api/members': json(MEMBERS),
    'GET /api/billing': json(BILLING),
    'GET /api/alerts': json(ALERTS),
    'GET /api/webhooks': json(WEBHOOKS),
    'GET /api/webhooks/:id/deliveries': json(DELIVERIES),
    'POST /api/webhooks/:id/test': json({ rows: DELIVERIES.rows.slice(0, 1) }),
    'POST /api/playground': {
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'x-request-id': 'req_play',
        'x-sluice-provider': 'secondary',
        'x-sluice-model': 'sim-large',
        'x-sluice-fallback': 'true',
        'x-sluice-fallback-reason': 'rate_limit',
        'x-sluice-attempts': '2',
        'x-ratelimit-limit-requests': '50',
        'x-ratelimit-remaining-requests': '49',
        'x-ratelimit-reset-requests': '20ms',
      },
      body: STREAM,
    },
  };
  const asked: string[] = [];
  const sent: { call: string; body: unknown }[] = [];
  return {
    routes,
    asked,
    sent,
    answer(method, url, headers, text) {
      const { pathname, searchParams } = new URL(url, 'http://console.test');
      asked.push(`${method} ${url}`);
      const body: unknown = text === undefined || text === '' ? undefined : JSON.parse(text);
      if (body !== undefined) sent.push({ call: `${method} ${pathname}`, body });
      const general = pathname.replace(/^(\/api\/(?:requests|webhooks|members|keys|sessions))\/[^/]+/, '$1/:id');
      const route = routes[`${method} ${pathname}`] ?? routes[`${method} ${general}`] ?? problem(404, 'Not found');
      return typeof route === 'function'
        ? route({ method, path: pathname, query: searchParams, headers, body })
        : route;
    },
  };
}

/** `fetch` that asks the fixture. */
export function fixtureFetch(bff: FixtureBff): typeof fetch {
  return async (input, init) => {
    init?.signal?.throwIfAborted();
    const answer = bff.answer(
      init?.method ?? 'GET',
      String(input),
      new Headers(init?.headers),
      init?.body as string | undefined,
    );
    const body =
      answer.body === undefined ? null : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return new Response(body, {
      status: answer.status,
      headers: { 'content-type': 'application/json', ...answer.headers },
    });
  };
}
