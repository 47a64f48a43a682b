import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
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

/** Tests that only a real Valkey or Redis can judge; its server program comes from the system, not from npm. */
const NEEDS_VALKEY = [
  '/valkey-limit-store\\.test\\.ts$',
  '/valkey-limit-store-faults\\.test\\.ts$',
  '/valkey-shared\\.test\\.ts$',
  '/quota-shared\\.test\\.ts$',
  '/ledger-audit-shared\\.test\\.ts$',
  '/start-redis\\.test\\.ts$',
  '/valkey-pause\\.test\\.ts$',
  '/valkey\\.int\\.test\\.ts$',
];

/** Tests that drive a page in the system's own Chromium. */
const NEEDS_BROWSER = ['/operator-console\\.int\\.test\\.ts$', '/tenant-console\\.int\\.test\\.ts$'];

/** Whether one of these programs is on PATH. */
function hasProgram(names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.some((name) =>
    folders.some((folder) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

// CI demands the server (SLUICE_TEST_VALKEY=required): there these tests fail without it.
const leaveOutValkey = process.env.SLUICE_TEST_VALKEY !== 'required' && !hasProgram(['valkey-server', 'redis-server']);
if (leaveOutValkey) {
  console.warn(
    'The tests of the shared limit store are left out: neither valkey-server nor redis-server is on PATH (Debian: apt-get install redis-server, macOS: brew install valkey).',
  );
}

const leaveOutBrowser = !hasProgram(['chromium', 'chromium-browser', 'google-chrome']);
if (leaveOutBrowser) {
  console.warn(
    'The tests of the consoles in a browser are left out: no Chromium is on PATH (Debian: apt-get install chromium).',
  );
}

// The tests at another date and hour; a test's realm has a `Date` of its own.
const shiftsClock = process.env.SLUICE_CLOCK_SHIFT_MS !== undefined;
const shiftedClock = fileURLToPath(new URL('tools/jest/shifted-clock.mjs', import.meta.url));

/** One Jest project. Sources stay ES modules; siblings are read from source through `@sluice/source`. */
function project(folder, overrides = {}) {
  return {
    displayName: folder.split('/').at(-1),
    rootDir: fileURLToPath(new URL(folder, import.meta.url)),
    roots: ['<rootDir>/src'],
    testMatch: ['<rootDir>/src/**/*.test.{ts,tsx}'],
    testEnvironment: 'node',
    ...(shiftsClock && { setupFiles: [shiftedClock] }),
    testEnvironmentOptions: { customExportConditions: conditions },
    extensionsToTreatAsEsm: ['.ts', '.tsx'],
    transform: { '\\.tsx$': ['@swc/jest', swc], '\\.ts$': ['@swc/jest', swcTs] },
    testPathIgnorePatterns: [
      '/node_modules/',
      ...(leaveOutValkey ? NEEDS_VALKEY : []),
      ...(leaveOutBrowser ? NEEDS_BROWSER : []),
    ],
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
  // For tests with processes and sockets on a machine that has other work; nothing waits for it.
  testTimeout: 60_000,
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
