/** One deliberate break of the wall between tenants: what is replaced where, and the tests that must fail then. */
export interface IsolationBreak {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
  /** Folder name of the app or library whose tests notice it. */
  readonly project: string;
  /** Pattern of test files. */
  readonly tests: string;
}

const BFF = 'apps/console-bff/src';
const CP = 'apps/control-plane/src';

export const ISOLATION_BREAKS: readonly IsolationBreak[] = [
  {
    name: 'the backend drops the scope: any workspace is one of the person’s',
    edits: [
      {
        file: `${BFF}/scope.ts`,
        find: 'Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;',
        put: "principal.roles[slug] ?? 'admin';",
      },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'another’s workspace is a 403 instead of a 404',
    edits: [
      {
        file: `${BFF}/scope.ts`,
        find: 'if (role === undefined) throw notFound();',
        put: "if (role === undefined) throw new ProblemError(403, 'Not yours');",
      },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'a 404 echoes what was asked for',
    edits: [
      {
        file: `${BFF}/scope.ts`,
        find: 'if (role === undefined) throw notFound();',
        put: "if (role === undefined) throw new ProblemError(404, 'Not found', { detail: slug });",
      },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'the backend skips the permission',
    edits: [
      {
        file: `${BFF}/scope.ts`,
        find: 'if (!permissions.includes(route.permission)) {',
        put: 'if (permissions.length === 0) {',
      },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'a view spreads the upstream object, and nothing checks it on the way out',
    edits: [
      {
        file: `${BFF}/views/overview-view.ts`,
        find: '    workspace: from.workspace,',
        put: '    ...from,\n    workspace: from.workspace,',
      },
      { file: `${BFF}/scope.ts`, find: 'res.json(route.view.parse(answer.view));', put: 'res.json(answer.view);' },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'a view spreads one row deep inside',
    edits: [
      {
        file: `${BFF}/views/request-view.ts`,
        find: 'from.attempts.map((a) => ({\n',
        put: 'from.attempts.map((a) => ({\n      ...a,\n',
      },
      { file: `${BFF}/scope.ts`, find: 'res.json(route.view.parse(answer.view));', put: 'res.json(answer.view);' },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'answers are cached without the principal',
    edits: [
      {
        file: `${BFF}/control-plane.ts`,
        find: "      const answer = await call(`${pathOf(scope, path)}${search === '' ? '' : `?${search}`}`, {",
        put: "      const address = `${pathOf(scope, path)}${search}`;\n      const kept = CACHE.get(address);\n      if (kept !== undefined) return { value: parse(schema, kept.text), etag: etagOf(kept) };\n      const answer = await call(`${pathOf(scope, path)}${search === '' ? '' : `?${search}`}`, {",
      },
      {
        file: `${BFF}/control-plane.ts`,
        find: '      if (answer.status === 404) return undefined;\n      if (answer.status !== 200) throw refusal(answer);\n      return { value: parse(schema, answer.text), etag: etagOf(answer) };',
        put: '      if (answer.status === 404) return undefined;\n      if (answer.status !== 200) throw refusal(answer);\n      CACHE.set(address, answer);\n      return { value: parse(schema, answer.text), etag: etagOf(answer) };',
      },
      {
        file: `${BFF}/control-plane.ts`,
        find: 'const SLOW_MS = 15_000;',
        put: 'const SLOW_MS = 15_000;\nconst CACHE = new Map<string, Answer>();',
      },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'a workspace that the client names in a header is trusted',
    edits: [
      {
        file: `${BFF}/scope.ts`,
        find: 'scope: { principal, slug },',
        put: "scope: { principal, slug: String(req.headers['x-sluice-act-workspace'] ?? slug) },",
      },
    ],
    project: 'console-bff',
    tests: 'bad-input.test',
  },
  {
    name: 'money is shown to every role',
    edits: [
      { file: `${BFF}/views/usage-view.ts`, find: 'sight.cost ? s.billed_nanousd : null', put: 's.billed_nanousd' },
    ],
    project: 'console-bff',
    tests: 'isolation.test',
  },
  {
    name: 'anybody may end anybody’s session',
    edits: [
      {
        file: `${CP}/session/postgres-person-sessions.ts`,
        find: '= ${userId}\n        and token_digest in',
        put: "<> ''\n        and token_digest in",
      },
    ],
    project: 'control-plane',
    tests: 'database-outage.int.test',
  },
  {
    name: 'the control plane accepts a principal that nobody has signed',
    edits: [
      {
        file: `${CP}/api/authenticate.ts`,
        find: 'verifyPrincipal(req.get(PRINCIPAL_HEADER), deps.principalKey, deps.clock)',
        put: "(JSON.parse(Buffer.from((req.get(PRINCIPAL_HEADER) ?? '').split('.')[0] ?? '', 'base64url').toString() || 'null') as Principal | null) ?? verifyPrincipal(undefined, deps.principalKey, deps.clock)",
      },
    ],
    project: 'control-plane',
    tests: 'api/workspace-routes.test',
  },
  {
    name: 'the control plane believes the backend about the workspace',
    edits: [
      {
        file: `${CP}/tenant/admit.ts`,
        find: 'Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;',
        put: "principal.userId !== '' ? (principal.roles[slug] ?? 'admin') : undefined;",
      },
    ],
    project: 'control-plane',
    tests: 'api/workspace-routes.test',
  },
  {
    name: 'the control plane skips the permission',
    edits: [
      {
        file: `${CP}/tenant/admit.ts`,
        find: '!ROLE_PERMISSIONS[role].includes(permission)',
        put: 'ROLE_PERMISSIONS[role].length === 0',
      },
    ],
    project: 'control-plane',
    tests: 'api/workspace-routes.test',
  },
  {
    name: 'refusals of every workspace are in the list of requests',
    edits: [
      {
        file: `${CP}/tenant/request-reader.ts`,
        find: '    sql`workspace = ${search.workspace}`,\n    type,',
        put: '    type,',
      },
    ],
    project: 'control-plane',
    tests: 'tenant/tenant-console.int.test',
  },
  {
    name: 'the webhook of another workspace can be removed by its id',
    edits: [
      {
        file: `${CP}/webhooks/webhook-store.ts`,
        find: 'delete from webhooks where workspace = ${scope.workspace} and id = ${id} returning url',
        put: 'delete from webhooks where id = ${id} returning url',
      },
    ],
    project: 'control-plane',
    tests: 'tenant/tenant-console.int.test',
  },
  {
    name: 'a webhook may lead to a private address when a name among its addresses is public',
    edits: [{ file: `${CP}/webhooks/address-guard.ts`, find: 'addresses.every(open)', put: 'addresses.some(open)' }],
    project: 'control-plane',
    tests: 'webhooks/webhooks.test',
  },
];
