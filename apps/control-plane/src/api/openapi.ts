import { z } from 'zod';
import { Problem } from '@sluice/contracts';
import type { Route, RouteAuth } from './route.ts';

type Requirement = Readonly<Record<string, readonly string[]>>;
const OPERATOR: readonly Requirement[] = [{ operatorCookie: [] }, { operatorBearer: [] }];
const SECURITY: Record<RouteAuth, readonly Requirement[]> = {
  none: [],
  viewer: OPERATOR,
  operator: OPERATOR,
  admin: OPERATOR,
  gateway: [{ gatewayToken: [] }],
  router: [{ routerToken: [] }],
  bff: [{ bffToken: [] }],
  person: [{ bffToken: [], signedPrincipal: [] }],
};

/** The OpenAPI 3.1 description of a route table. */
export function describeRoutes(routes: readonly Route[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: describe(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice control plane', version: '1', description: 'Operator API, and the internal API of gateways and console backend.' },
    paths,
    components: {
      schemas: { Problem: schemaOf(Problem, 'output') },
      securitySchemes: {
        operatorCookie: { type: 'apiKey', in: 'cookie', name: 'sluice_operator' },
        operatorBearer: { type: 'http', scheme: 'bearer' },
        gatewayToken: { type: 'http', scheme: 'bearer', description: 'Service token of the gateways' },
        routerToken: { type: 'http', scheme: 'bearer', description: 'Service token of the router' },
        bffToken: { type: 'http', scheme: 'bearer', description: 'Service token of the console backend' },
        signedPrincipal: { type: 'apiKey', in: 'header', name: 'x-sluice-principal' },
      },
    },
  };
}

function describe(route: Route): Record<string, unknown> {
  const status = String(route.status ?? 200);
  const content = route.streams === true ? { 'text/event-stream': {} } : jsonContent(route.response, 'output');
  return {
    summary: route.summary,
    tags: [route.tag],
    security: SECURITY[route.auth],
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: jsonContent(route.body, 'input') } }),
    responses: {
      [status]: { description: 'Done', ...(status === '204' ? {} : { content }) },
      default: { description: 'Refused or failed', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  };
}

function jsonContent(schema: z.ZodType | undefined, io: 'input' | 'output'): Record<string, unknown> {
  return { 'application/json': schema === undefined ? {} : { schema: schemaOf(schema, io) } };
}

function pathParameters(path: string): Record<string, unknown>[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({ name: match[1], in: 'path', required: true, schema: { type: 'string' } }));
}

function queryParameters(query: z.ZodType | undefined): Record<string, unknown>[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape).map(([name, field]) => ({
    name,
    in: 'query',
    required: !(field as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(field as z.ZodType, 'input'),
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return rest;
}
