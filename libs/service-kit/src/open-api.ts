import { createHash } from 'node:crypto';
import type { Express } from 'express';
import { Problem } from '@sluice/contracts';
import { z } from 'zod';

/** One route as its clients see it. */
export interface ApiRoute {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As Express writes it: `/api/keys/:keyId`. */
  path: string;
  summary: string;
  /** Which credential it asks for. */
  auth: 'none' | 'session' | 'service';
  query?: z.ZodType;
  body?: z.ZodType;
  response?: z.ZodType;
  /** Status of the good answer. Default 200. */
  status?: number;
}

export interface ApiDescription {
  title: string;
  description: string;
  routes: readonly ApiRoute[];
}

/** An OpenAPI 3.1 document; every route also answers the RFC 9457 problem. */
export function openApiDocument({ title, description, routes }: ApiDescription): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title, description, version: '0' },
    paths,
    components: {
      schemas: { Problem: jsonSchema(Problem) },
      securitySchemes: { session: { type: 'http', scheme: 'bearer' }, service: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation(route: ApiRoute): object {
  const pathNames = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const querySchema = route.query === undefined ? undefined : (jsonSchema(route.query) as { properties?: object; required?: string[] });
  const queryNames = Object.entries(querySchema?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: querySchema?.required?.includes(name) ?? false,
    schema: schema as object,
  }));
  const good = { description: route.summary, ...(route.response === undefined ? {} : { content: json(jsonSchema(route.response)) }) };
  return {
    summary: route.summary,
    security: route.auth === 'none' ? [] : [{ [route.auth]: [] }],
    parameters: [...pathNames, ...queryNames],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: json(jsonSchema(route.body)) } }),
    responses: {
      [String(route.status ?? 200)]: good,
      default: { description: 'Problem (RFC 9457)', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

function jsonSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

const STYLE = 'body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}code{font-size:.95em}td{padding:.2rem 1rem .2rem 0;vertical-align:top}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Adds `GET /openapi.json` and `GET /docs`, a page that lists the routes without any script. */
export function serveOpenApi(app: Express, api: ApiDescription): void {
  const document = JSON.stringify(openApiDocument(api));
  const page = docsPage(api);
  app.get('/openapi.json', (_req, res) => void res.type('application/json').send(document));
  app.get('/docs', (_req, res) => {
    res.setHeader('content-security-policy', `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'`);
    res.type('html').send(page);
  });
}

function docsPage({ title, description, routes }: ApiDescription): string {
  const rows = routes.map(
    (r) => `<tr><td><code>${r.method.toUpperCase()}</code></td><td><code>${escape(r.path)}</code></td><td>${escape(r.summary)}</td><td>${r.auth}</td></tr>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>${STYLE}</style></head><body><h1>${escape(title)}</h1><p>${escape(description)}</p><p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p><table><thead><tr><th>Method</th><th>Path</th><th>What it does</th><th>Credential</th></tr></thead><tbody>${rows.join('')}</tbody></table></body></html>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
