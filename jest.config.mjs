import { fileURLToPath } from 'node:url';

const swc = {
  swcrc: false,
  sourceMaps: 'inline',
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic' } },
  },
};

// `tsx: true` would read `<T>(x: T) => x` in a .ts file as JSX, so the two kinds get their own parser.
const swcTs = { ...swc, jsc: { ...swc.jsc, parser: { syntax: 'typescript', tsx: false } } };

const conditions = ['@sluice/source', 'node', 'node-addons'];

/** One Jest project. Sources stay ES modules; siblings are read from source through `@sluice/source`. */
function project(folder, overrides = {}) {
  return {
    displayName: folder.split('/').at(-1),
    rootDir: fileURLToPath(new URL(folder, import.meta.url)),
    roots: ['<rootDir>/src'],
    testMatch: ['<rootDir>/src/**/*.test.{ts,tsx}'],
    testEnvironment: 'node',
    testEnvironmentOptions: { customExportConditions: conditions },
    extensionsToTreatAsEsm: ['.ts', '.tsx'],
    transform: { '\\.tsx$': ['@swc/jest', swc], '\\.ts$': ['@swc/jest', swcTs] },
    ...overrides,
  };
}

const react = {
  testEnvironment: fileURLToPath(new URL('tools/jest/browser-environment.mjs', import.meta.url)),
  testEnvironmentOptions: { customExportConditions: ['@sluice/source', 'browser'] },
  moduleNameMapper: { '\\.(css|svg|png)$': fileURLToPath(new URL('tools/jest/asset.mjs', import.meta.url)) },
};

export default {
  maxWorkers: 2,
  watchman: false,
  projects: [
    project('apps/console', react),
    project('apps/console-bff'),
    project('apps/control-plane'),
    project('apps/gateway'),
    project('apps/operator-console', react),
    project('apps/provider-sim'),
    project('apps/router'),
    project('infra'),
    project('libs/contracts'),
    project('libs/events'),
    project('libs/limits'),
    project('libs/providers'),
    project('libs/resilience'),
    project('libs/routing'),
    project('libs/service-kit'),
    project('libs/testing'),
    project('libs/ui', react),
    project('tools'),
  ],
};
