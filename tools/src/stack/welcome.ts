import type { StackFile } from '@sluice/contracts';
import { DEMO_WORKSPACES } from '../demo/demo-tenants.ts';

/** What a person needs after `make up`. */
export function welcome(stack: StackFile): string {
  const { services } = stack;
  const lines = [
    '',
    'URLs',
    ...table([
      ['gateway', services.gateway.url, 'OpenAI and Anthropic SDKs'],
      [
        'operator console',
        `${services['control-plane'].url}/_console`,
        `sign in as ${stack.operator.user} / ${stack.operator.password}`,
      ],
      ['tenant console', services.console.url, 'sign in as one of the people below'],
      ['router', `${services.router.url}/docs`, ''],
      ['fault controls', services['provider-sim'].url, 'POST /providers/<primary|secondary|tertiary>/fault'],
      ['SNS/SQS', services.spine.url, 'region eu-central-1, any credentials'],
    ]),
    '',
    'Demo API keys',
    ...table(DEMO_WORKSPACES.map(({ slug }) => [slug, stack.keys[slug] ?? '', ''])),
    '',
    'People of the tenant console',
    ...table(
      stack.users.map(({ email, password, roles }) => [
        email,
        password,
        Object.entries(roles)
          .map(([slug, role]) => `${role} of ${slug}`)
          .join(', '),
      ]),
    ),
    '',
    'Point an SDK at it',
    `  OPENAI_BASE_URL=${services.gateway.url}/v1 OPENAI_API_KEY=${stack.keys['acme-prod'] ?? ''}`,
    `  ANTHROPIC_BASE_URL=${services.gateway.url} ANTHROPIC_API_KEY=${stack.keys['acme-prod'] ?? ''}`,
    '  models: sim-large, sim-medium, sim-small',
    '',
    'Next: make demo (a noisy neighbour), make status, make logs, make down. All of this is in .sluice/stack.json.',
  ];
  return lines.join('\n');
}

/** Columns of equal width, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  return rows.map(
    (row) =>
      `  ${row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd()}`,
  );
}
