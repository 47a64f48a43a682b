import { tableFrontier, TEST_FOLDS, type TableFrontier } from './frontier.ts';
import { clusters, nearest } from './neighbours.ts';
import { decisionTime } from './decision-time.ts';
import { linear, mean, onlyWeakSuccess, scorer, type Predictor } from './predictors.ts';
import {
  floorLine,
  simulatorFloors,
  simulatorLines,
  stabilityFloor,
  tableFloors,
  tableLines,
  type Floor,
} from './print-frontier.ts';
import { plotFrontiers } from './plot-frontier.ts';
import { readRoutingTables, type RoutingTable } from './routing-tables.ts';
import { MOST_FLIPS, stabilityOf } from './stability.ts';
import { simulatedFrontier } from './simulated-frontier.ts';
import { table as columns } from '../stack/welcome.ts';

const SEEDS = [1, 2, 3];

export interface FrontierOptions {
  /** Folder of the tables; without one only the simulator is measured. */
  readonly data: string | undefined;
  readonly testFolds?: readonly number[];
  /** Also what was tried and not kept. Takes minutes. */
  readonly compare?: boolean;
  /** Folder for a plot of each table. */
  readonly plots?: string | undefined;
  readonly print: (line: string) => void;
}

/** Prints the frontier of the simulator and of the tables of a folder, and gives what they are held against. */
export function benchFrontier({
  data,
  testFolds = TEST_FOLDS,
  compare = false,
  plots,
  print,
}: FrontierOptions): Floor[] {
  print('\nCost against quality. Nothing is fitted or chosen on what is reported as test.');
  const floors: Floor[] = [];
  for (const seed of SEEDS) {
    const simulated = simulatedFrontier(seed);
    simulatorLines(simulated).forEach(print);
    floors.push(...simulatorFloors(simulated));
  }
  const tables = data === undefined ? [] : readRoutingTables(data);
  if (tables.length === 0)
    print(
      `\nNo real tables: ${data === undefined ? 'SLUICE_ROUTER_DATA (or --data) names no folder' : `${data} holds none`}. docs/routing-evidence.md says what they are.`,
    );
  const frontiers: TableFrontier[] = [];
  for (const table of tables) {
    const frontier = tableFrontier(table, scorer(), testFolds);
    frontiers.push(frontier);
    tableLines(frontier, testFolds).forEach(print);
    const { prompts, p50Us, p99Us, cpuUs } = decisionTime(
      table,
      table.folds.flatMap((fold, row) => (testFolds.includes(fold) ? [row] : [])),
    );
    print(
      `  a whole decision, text to choice: p50 ${p50Us.toFixed(0)} µs, p99 ${p99Us.toFixed(0)} µs, CPU ${cpuUs.toFixed(0)} µs on average over ${prompts} prompts (target p99 < 1,000 µs)`,
    );
    const rowsIn = (wanted: (fold: number) => boolean): number[] =>
      table.folds.flatMap((fold, row) => (wanted(fold) ? [row] : []));
    const stability = stabilityOf(
      table,
      rowsIn((fold) => fold < 6),
      rowsIn((fold) => testFolds.includes(fold)),
      frontier.chosen?.validation.costWeight ?? 0.1,
    );
    print(`  choices that another wording flips, of ${stability[0]?.prompts} prompts (under ${MOST_FLIPS * 100} %):`);
    for (const { kind, flips } of stability)
      print(`    ${kind}: ${(flips * 100).toFixed(1)} %${flips >= MOST_FLIPS ? ' MISSED' : ''}`);
    floors.push(...tableFloors(frontier), stabilityFloor(frontier.name, stability));
    if (compare) compareLines(table, testFolds).forEach(print);
  }
  print('');
  floors.map(floorLine).forEach(print);
  if (plots !== undefined) for (const path of plotFrontiers(frontiers, plots)) print(`  plot: ${path}`);
  return floors;
}

function alternatives({ models }: RoutingTable): [string, Predictor][] {
  return [
    ['sixteen features, linear', linear],
    ...(models.length === 2
      ? [["the weak model's success alone, scorer", onlyWeakSuccess(scorer())] as [string, Predictor]]
      : []),
    ['scorer with 4,096 buckets', scorer({ buckets: 4_096 })],
    ['scorer with 65,536 buckets', scorer({ buckets: 65_536 })],
    ['scorer with penalty 12', scorer({ penalty: 12 })],
    ['32 clusters', clusters(32)],
    ['100 nearest prompts', nearest(100)],
    ['mean of scorer and 100 nearest', mean(scorer(), nearest(100))],
    ['scorer (kept)', scorer()],
  ];
}

function compareLines(table: RoutingTable, testFolds: readonly number[]): string[] {
  const rows = alternatives(table).map(([name, predictor]) => {
    const { validation, test, chosen } = tableFrontier(table, predictor, testFolds);
    const saved = (point: { saved: number; loss: number } | undefined): string =>
      point === undefined ? 'none' : `${(point.saved * 100).toFixed(1)} % at ${point.loss.toFixed(4)}`;
    return [
      name,
      validation.apgr.toFixed(4),
      test.apgr.toFixed(4),
      validation.aiq.router.toFixed(4),
      test.aiq.router.toFixed(4),
      saved(chosen?.validation),
      saved(chosen?.test),
    ];
  });
  return [
    '  what was tried:',
    ...columns([['', 'APGR validation', 'test', 'AIQ validation', 'test', 'saved validation', 'test'], ...rows]),
  ];
}
