import type { Express } from 'express';
import { Problem } from '@sluice/contracts';
import { z } from 'zod';
import { API_PAGE_CSP, apiPage, type ApiDocument } from './api-page/api-page.ts';

/** One route as its clients see it. */
export interface ApiRoute {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As Express writes it: `/api/keys/:keyId`. */
  path: string;
  summary: string;
  /** Which credential it asks for. */
  auth: 'none' | 'session' | 'service';
  /** Who may call it, in a sentence; what `auth` says when absent. */
  who?: string;
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
export function openApiDocument({
  title,
  description,
  routes,
}: ApiDescription): ApiDocument & { readonly openapi: string; readonly components: object } {
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

const WHO: Record<ApiRoute['auth'], string> = {
  none: 'Anybody.',
  session: 'A signed-in person.',
  service: 'A service with its token.',
};

function operation(route: ApiRoute): object {
  const pathNames = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const querySchema =
    route.query === undefined ? undefined : (jsonSchema(route.query) as { properties?: object; required?: string[] });
  const queryNames = Object.entries(querySchema?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: querySchema?.required?.includes(name) ?? false,
    schema: schema as object,
  }));
  const good = {
    description: route.summary,
    ...(route.response === undefined ? {} : { content: json(jsonSchema(route.response)) }),
  };
  return {
    summary: route.summary,
    description: route.who ?? WHO[route.auth],
    security: route.auth === 'none' ? [] : [{ [route.auth]: [] }],
    parameters: [...pathNames, ...queryNames],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: json(jsonSchema(route.body)) } }),
    responses: {
      [String(route.status ?? 200)]: good,
      default: {
        description: 'Problem (RFC 9457)',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

function jsonSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** Adds `GET /openapi.json` and `GET /docs`, the same as a page for people without any script. */
export function serveOpenApi(app: Express, api: ApiDescription): void {
  const document = openApiDocument(api);
  const text = JSON.stringify(document);
  let page: string | undefined;
  app.get('/openapi.json', (_req, res) => void res.type('application/json').send(text));
  app.get('/docs', (_req, res) => {
    res.setHeader('content-security-policy', API_PAGE_CSP);
    res.type('html').send((page ??= apiPage(document)));
  });
}
