import { setTimeout as delay } from 'node:timers/promises';
import { cpuMicroseconds, residentBytes, runBenchScript } from './bench-process.ts';
import { median, medianRatio, printFigures, printTarget } from './bench-report.ts';
import type { BenchTargets, Target } from './bench-targets.ts';
import type { StreamFigures, StreamLoad } from './stream-client.ts';

type Load = Omit<StreamLoad, 'port' | 'upstreamPort' | 'key' | 'model'>;
type Round = StreamFigures & { readonly cpuUs: number };

const MB = 1024 * 1024;
const CHUNKS = 50;
const PACE_MS = 10;
const STREAMS = 32;
const TRANSLATED = 'gateway, translated';

async function play(
  { root, key, upstreamPort }: BenchTargets,
  port: number,
  load: Load,
  model: StreamLoad['model'] = 'sim-small',
): Promise<StreamFigures> {
  const output = await runBenchScript(root, 'tools/src/bench/stream-client.ts', 'rest', {
    BENCH_LOAD: JSON.stringify({ ...load, port, upstreamPort, key, model } satisfies StreamLoad),
  });
  return JSON.parse(output) as StreamFigures;
}

/** What is measured: a target, and for the gateway whether it translates. */
interface Course {
  readonly name: string;
  readonly target: Target;
  readonly model: StreamLoad['model'];
}

async function measure(bench: BenchTargets, { target, model }: Course, load: Load): Promise<Round> {
  const before = cpuMicroseconds(target.process.pid) ?? NaN;
  const figures = await play(bench, target.port, load, model);
  return { ...figures, cpuUs: ((cpuMicroseconds(target.process.pid) ?? NaN) - before) / figures.chunks };
}

const straight = (bench: BenchTargets): Course[] =>
  bench.targets.map((target) => ({ name: target.name, target, model: 'sim-small' }));

async function inTurns(
  bench: BenchTargets,
  courses: readonly Course[],
  rounds: number,
  load: Load,
): Promise<Map<string, Round[]>> {
  const results = new Map(courses.map(({ name }) => [name, [] as Round[]]));
  for (const course of courses) await measure(bench, course, { ...load, seconds: Math.min(load.seconds, 3) });
  for (let round = 1; round <= rounds; round += 1) {
    for (const course of courses) results.get(course.name)?.push(await measure(bench, course, load));
  }
  return results;
}

/** Paced streams: CPU per chunk, the start of each stream included. */
export async function benchChunks(bench: BenchTargets, rounds: number, seconds: number): Promise<void> {
  const results = await inTurns(
    bench,
    [...straight(bench), { name: TRANSLATED, target: bench.gateway, model: 'sim-translated' }],
    rounds,
    { streams: STREAMS, chunks: CHUNKS, paceMs: PACE_MS, seconds },
  );
  printFigures(
    `Streams of ${CHUNKS} chunks of 284 bytes at a ${PACE_MS} ms pace, ${STREAMS} at a time, ${rounds} interleaved rounds of ${seconds} s; median / min / max.`,
    ['CPU µs / chunk', 'chunks', 'delay p50 ms', 'delay p99 ms', 'errors'],
    [1, 0, 2, 2, 0],
    [...results].map(([name, all]) => ({
      name,
      columns: [
        all.map((r) => r.cpuUs),
        all.map((r) => r.chunks),
        all.map((r) => r.delayP50Ms),
        all.map((r) => r.delayP99Ms),
        all.map((r) => r.errors),
      ],
    })),
  );
  const cpu = (name: string) => results.get(name)?.map((round) => round.cpuUs);
  printTarget('CPU per chunk ÷ nginx, same dialect', medianRatio(cpu('gateway'), cpu('nginx')), 3, 2.5);
  printTarget('CPU per chunk ÷ nginx, translated', medianRatio(cpu(TRANSLATED), cpu('nginx')), 4, 3.2);
  console.log(`  CPU per chunk ÷ bare proxy: ${medianRatio(cpu('gateway'), cpu('bare')).toFixed(2)}`);
}

/** Time to the first content, one stream at a time, against the upstream directly. */
export async function benchFirstToken(bench: BenchTargets, rounds: number, seconds: number): Promise<void> {
  const load: Load = { streams: 1, chunks: 3, paceMs: 1, seconds };
  const direct: StreamFigures[] = [];
  const through: StreamFigures[] = [];
  await play(bench, bench.gateway.port, load);
  for (let round = 1; round <= rounds; round += 1) {
    direct.push(await play(bench, bench.upstreamPort, load));
    through.push(await play(bench, bench.gateway.port, load));
  }
  const columns = (all: readonly StreamFigures[]) => [
    all.map((r) => r.firstP50Ms),
    all.map((r) => r.firstP99Ms),
    all.map((r) => r.streams),
    all.map((r) => r.errors),
  ];
  printFigures(
    `Time to the first content, one stream at a time, ${rounds} interleaved rounds of ${seconds} s; median / min / max.`,
    ['p50 ms', 'p99 ms', 'streams', 'errors'],
    [3, 2, 0, 0],
    [
      { name: 'upstream alone', columns: columns(direct) },
      { name: 'gateway', columns: columns(through) },
    ],
  );
  printTarget(
    'added time to the first content, p50',
    median(through.map((r, i) => r.firstP50Ms - (direct[i]?.firstP50Ms ?? NaN))),
    1,
    0.4,
    ' ms',
  );
}

/** Many streams at once on one core: does any chunk come late? */
export async function benchManyStreams(bench: BenchTargets, rounds: number): Promise<void> {
  const load: Load = { streams: 512, chunks: 64, paceMs: 20, seconds: 0 };
  const results = await inTurns(bench, straight(bench), rounds, load);
  const alone: StreamFigures[] = [];
  for (let round = 1; round <= rounds; round += 1) alone.push(await play(bench, bench.upstreamPort, load));
  printFigures(
    `${load.streams} streams at once of ${load.chunks} chunks at a ${load.paceMs} ms pace, ${rounds} rounds; median / min / max. Delay is from the upstream's write to the client's read.`,
    ['CPU µs / chunk', 'delay p50 ms', 'delay p99 ms', 'delay max ms', 'chunks > 100 ms late', 'errors'],
    [1, 2, 2, 1, 0, 0],
    [...results].map(([name, all]) => ({
      name,
      columns: [
        all.map((r) => r.cpuUs),
        all.map((r) => r.delayP50Ms),
        all.map((r) => r.delayP99Ms),
        all.map((r) => r.delayMaxMs),
        all.map((r) => r.stalls),
        all.map((r) => r.errors),
      ],
    })),
  );
  console.log(
    `  latest chunk with nothing between client and upstream, which is what the two of them add: ${median(alone.map((round) => round.delayMaxMs)).toFixed(1)} ms`,
  );
  printTarget(
    'latest chunk through the gateway',
    median(results.get('gateway')?.map((round) => round.delayMaxMs) ?? []),
    100,
    undefined,
    ' ms',
  );
  console.log(
    `  rounds with a chunk that was more than 100 ms late: ${results.get('gateway')?.filter((round) => round.stalls > 0).length} of ${rounds}`,
  );
}

/**
 * Resident memory of the gateway: idle since its start, while 1,000 streams are open, and while 200 run that began
 * with long prompts.
 */
export async function benchMemory(bench: BenchTargets): Promise<void> {
  const idle = residentBytes(bench.gateway.process.pid) ?? NaN;
  const short = await watchMemory(bench, { streams: 1000, chunks: 20, paceMs: 250, seconds: 0 });
  console.log(
    `\nResident memory of the gateway, 1 run; ${short.figures.streams} streams opened at once, ${short.figures.errors} errors`,
  );
  printTarget('idle', idle / MB, 120, undefined, ' MB');
  printTarget('most while 1,000 streams are open', Math.max(idle, ...short.samples) / MB, 250, undefined, ' MB');
  const before = residentBytes(bench.gateway.process.pid) ?? NaN;
  const long = await watchMemory(bench, { streams: 200, chunks: 5, paceMs: 3_000, seconds: 0, promptChars: 300_000 });
  const running = long.samples.slice(Math.floor(long.samples.length / 2));
  console.log(
    `  while ${long.figures.streams} streams run whose prompts had 300 kB each (${long.figures.errors} errors): ${(median(running) / MB).toFixed(0)} MB, ${(before / MB).toFixed(0)} before`,
  );
}

/** Plays a load and looks at the gateway's memory each tenth of a second, bytes. */
async function watchMemory(
  bench: BenchTargets,
  load: Load,
): Promise<{ readonly figures: StreamFigures; readonly samples: readonly number[] }> {
  const samples: number[] = [];
  const playing = play(bench, bench.gateway.port, load);
  let over = false;
  const done = playing.finally(() => (over = true));
  while (!over) {
    samples.push(residentBytes(bench.gateway.process.pid) ?? NaN);
    await delay(100);
  }
  return { figures: await done, samples };
}
