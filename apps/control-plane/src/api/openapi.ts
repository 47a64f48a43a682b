import { z } from 'zod';
import { Problem } from '@sluice/contracts';
import type { ApiDocument } from '@sluice/service-kit';
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

const WHO: Record<RouteAuth, string> = {
  none: 'Anybody.',
  viewer: 'Operators of every role.',
  operator: 'Operators of the roles operator and admin.',
  admin: 'Operators of the role admin.',
  gateway: 'Gateways, by their service token.',
  router: 'The router, by its service token.',
  bff: "The tenant console's backend, by its service token.",
  person:
    "The tenant console's backend, in the name of a person whose principal it has signed, where that person has the permission.",
};

/** The OpenAPI 3.1 description of a route table. */
export function describeRoutes(
  routes: readonly Route[],
): ApiDocument & { readonly openapi: string; readonly components: object } {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: describe(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice control plane',
      version: '1',
      description:
        'The API of operators, and the internal one of gateways, router and the tenant console. Prices are picodollars a token, money is nanodollars, instants are UTC.',
    },
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
    operationId: operationId(route),
    summary: route.summary,
    description: WHO[route.auth],
    tags: [route.tag],
    security: SECURITY[route.auth],
    parameters: [...pathParameters(route.path), ...queryParameters(route.query), ...matchParameters(route)],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: jsonContent(route.body, 'input') } }),
    responses: {
      [status]: { description: 'Done', ...(status === '204' ? {} : { content }) },
      ...Object.fromEntries(refusals(route).map(([code, description]) => [code, problem(description)])),
      default: problem('Refused or failed'),
    },
  };
}

const ROLES: readonly RouteAuth[] = ['viewer', 'operator', 'admin'];

const problem = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

/** What a caller has to reckon with, by the route's own declaration. */
function refusals(route: Route): [string, string][] {
  const found: [string, string][] = [];
  if (route.body !== undefined || route.query !== undefined)
    found.push(['400', 'A field or parameter is wrong; `errors` names each by its path']);
  if (route.auth !== 'none') found.push(['401', 'Without the credential that it needs']);
  if (ROLES.includes(route.auth)) found.push(['403', 'The role is too low, or a foreign origin']);
  if (route.path.includes(':')) found.push(['404', 'There is none']);
  if (route.precondition !== undefined) found.push(['412', 'Changed in the meantime; `versions` tells both']);
  if (route.precondition === 'required') found.push(['428', 'It exists, and If-Match is missing']);
  return found;
}

/** `put_api_tenants_id`. */
function operationId({ method, path }: Route): string {
  return `${method}${path.replace(/[^A-Za-z0-9]+/g, '_')}`;
}

function matchParameters({ precondition }: Route): Record<string, unknown>[] {
  if (precondition === undefined) return [];
  const description = `The ETag that was read, or *. ${precondition === 'required' ? 'Needed to change what exists.' : 'Without it the last writer wins.'}`;
  return [{ name: 'If-Match', in: 'header', required: false, description, schema: { type: 'string' } }];
}

function jsonContent(schema: z.ZodType | undefined, io: 'input' | 'output'): Record<string, unknown> {
  return { 'application/json': schema === undefined ? {} : { schema: schemaOf(schema, io) } };
}

function pathParameters(path: string): Record<string, unknown>[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
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
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  });
  return rest;
}
