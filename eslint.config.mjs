import { createProjectGraphAsync } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// The boundary rule reads the cached project graph and is silent when there is none, so the graph is
// brought up to date before any file is linted.
process.env.NX_DAEMON ??= 'false';
await createProjectGraphAsync();

/** Which projects each project may import, in tests as well. Nothing may import an app. */
const mayImport = {
  contracts: [],
  limits: ['contracts', 'testing'],
  resilience: ['contracts', 'testing'],
  routing: ['contracts', 'testing'],
  testing: ['contracts'],
  'service-kit': ['contracts', 'testing'],
  providers: ['contracts', 'resilience', 'testing'],
  events: ['contracts', 'service-kit', 'testing'],
  ui: ['contracts'],
  gateway: ['contracts', 'limits', 'resilience', 'providers', 'events', 'routing', 'service-kit', 'testing'],
  'control-plane': ['contracts', 'events', 'service-kit', 'limits', 'testing'],
  'console-bff': ['contracts', 'service-kit', 'testing'],
  router: ['contracts', 'events', 'routing', 'service-kit', 'testing'],
  'provider-sim': ['contracts', 'service-kit', 'testing'],
  'operator-console': ['ui', 'contracts'],
  console: ['ui', 'contracts'],
  infra: ['contracts'],
  tools: ['contracts', 'limits', 'resilience', 'providers', 'events', 'routing', 'service-kit', 'ui', 'testing'],
};

const depConstraints = Object.entries(mayImport).map(([name, allowed]) => ({
  sourceTag: `scope:${name}`,
  onlyDependOnLibsWithTags: allowed.map((target) => `scope:${target}`),
}));

const ioModules = ['net', 'http', 'https', 'fs', 'fs/promises', 'child_process'];
const ioPackages = ['ioredis', 'pg', 'undici'];
const pureOnly = 'limits, resilience and routing do no I/O except in files named for a store.';

export default tseslint.config(
  { ignores: ['**/node_modules/', '**/dist/', '**/out-tsc/', '**/coverage/', '.nx/', '.sluice/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': ['error', { depConstraints, enforceBuildableLibDependency: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    files: ['apps/console/**/*.{ts,tsx}', 'apps/operator-console/**/*.{ts,tsx}', 'libs/ui/**/*.{ts,tsx}'],
    ...reactHooks.configs.flat.recommended,
  },
  {
    files: ['libs/limits/**/*.ts', 'libs/resilience/**/*.ts', 'libs/routing/**/*.ts'],
    ignores: ['**/*store*.ts', 'libs/routing/src/testing/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [...ioModules.flatMap((name) => [name, `node:${name}`]), ...ioPackages].map((name) => ({
            name,
            message: pureOnly,
          })),
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'The clock is a parameter: take a Clock.',
        },
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'The clock is a parameter: take a Clock.',
        },
        {
          selector: `ImportExpression[source.value=/^((node:)?(${ioModules.join('|').replace('/', '\\u002F')})|${ioPackages.join('|')})$/]`,
          message: pureOnly,
        },
      ],
    },
  },
);
