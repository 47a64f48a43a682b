import { join } from 'node:path';
import { frontierOptions } from '../frontier/frontier-options.ts';
import { benchFrontier } from '../frontier/frontier-section.ts';
import type { StackSettings } from '../stack/settings.ts';
import { runBenchScript, type Core } from './bench-process.ts';
import { benchBodies } from './bodies.ts';
import { benchBundle } from './bundle.ts';
import { startBenchTargets, type BenchTargets } from './bench-targets.ts';
import { benchChunks, benchFirstToken, benchManyStreams, benchMemory } from './streams.ts';
import { benchManyWorkspaces } from './many-workspaces.ts';
import { benchRoute } from './route.ts';
import { benchWholeAnswers } from './whole-answers.ts';

type Section = (bench: BenchTargets, rounds: number, seconds: number) => Promise<void>;

/** In this order: memory is measured while the gateway is fresh. */
const SECTIONS: Readonly<Record<string, Section>> = {
  memory: (bench) => benchMemory(bench),
  whole: benchWholeAnswers,
  chunks: benchChunks,
  bodies: benchBodies,
  'first-token': benchFirstToken,
  'many-streams': (bench, rounds) => benchManyStreams(bench, Math.max(rounds, 7)),
  workspaces: (bench, rounds, seconds) => benchManyWorkspaces(bench, Math.min(rounds, 5), seconds),
  limits: ({ root }) => benchScript(root, 'libs/limits/bench/limits.bench.ts', 'target'),
  breaker: ({ root }) => benchScript(root, 'libs/resilience/bench/breaker.bench.ts', 'target'),
  outbox: ({ root }) => benchScript(root, 'libs/events/bench/outbox.bench.ts', 'target'),
  accounts: ({ root }) => benchScript(root, 'apps/gateway/src/bench/accounts.bench.ts', 'target'),
  decide: ({ root }) => benchScript(root, 'apps/gateway/src/bench/decide.bench.ts', 'target'),
  route: benchRoute,
  ledger: ({ root }, rounds) =>
    benchScript(root, 'apps/control-plane/src/bench/ledger-insert.bench.ts', 'any', { BENCH_ROUNDS: String(rounds) }),
  config: ({ root }) => benchScript(root, 'apps/control-plane/src/bench/config-scale.bench.ts', 'any'),
  overview: ({ root }) => benchScript(root, 'apps/control-plane/src/bench/overview.bench.ts', 'any'),
  bundle: ({ root }) => benchBundle(root),
};

type LibrarySection = (settings: StackSettings, words: readonly string[]) => void;

/** Sections that ask a library alone: no gateway, nothing started. */
const LIBRARY_SECTIONS: Readonly<Record<string, LibrarySection>> = {
  frontier: ({ dataDir, env }, words) =>
    void benchFrontier({
      ...frontierOptions(env, words),
      plots: join(dataDir, 'plots'),
      print: (line) => console.log(line),
    }),
};

/**
 * Reproduces the figures that the READMEs claim, beside baselines of the same run. `BENCH_ROUNDS` and
 * `BENCH_SECONDS` change the length, `BENCH_ONLY` names sections with commas between, `BENCH_PROFILE=<folder>`
 * keeps a CPU profile of the gateway.
 */
export async function bench(settings: StackSettings, words: readonly string[] = []): Promise<number> {
  const { root, env } = settings;
  const rounds = Number(env['BENCH_ROUNDS'] ?? '3');
  const seconds = Number(env['BENCH_SECONDS'] ?? '6');
  const wanted = env['BENCH_ONLY']?.split(',') ?? [...Object.keys(SECTIONS), ...Object.keys(LIBRARY_SECTIONS)];
  const unknown = wanted.filter((name) => !Object.hasOwn(SECTIONS, name) && !Object.hasOwn(LIBRARY_SECTIONS, name));
  if (unknown.length > 0)
    throw new RangeError(
      `BENCH_ONLY names ${unknown.join(', ')}; the sections are ${[...Object.keys(SECTIONS), ...Object.keys(LIBRARY_SECTIONS)].join(', ')}`,
    );
  if (wanted.some((name) => Object.hasOwn(SECTIONS, name))) await benchTargets(root, env, wanted, rounds, seconds);
  for (const [name, run] of Object.entries(LIBRARY_SECTIONS)) if (wanted.includes(name)) run(settings, words);
  return 0;
}

async function benchTargets(
  root: string,
  env: NodeJS.ProcessEnv,
  wanted: readonly string[],
  rounds: number,
  seconds: number,
): Promise<void> {
  const targets = await startBenchTargets(root, env);
  try {
    if (targets.targets.every((target) => target.name !== 'nginx'))
      console.log('nginx is not installed: nothing is compared with it.');
    console.log(
      'On in the gateway: every check, metering with the outbox on disk, one log line per request. Not reachable: SNS/SQS, control plane, router.',
    );
    console.log('nginx: one process, kept-alive upstream connections, no log, no buffering.');
    for (const [name, run] of Object.entries(SECTIONS)) if (wanted.includes(name)) await run(targets, rounds, seconds);
  } finally {
    await targets.close();
  }
}

/** A project's own benchmark. */
async function benchScript(root: string, entry: string, core: Core, env: NodeJS.ProcessEnv = {}): Promise<void> {
  console.log(`\n${entry}`);
  console.log(await runBenchScript(root, entry, core, env));
}
