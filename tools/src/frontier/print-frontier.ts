import type { FrontierReport, OperatingPoint } from '@sluice/routing';
import { table } from '../stack/welcome.ts';
import { LOSS, type ChosenPoint, type TableFrontier } from './frontier.ts';
import type { SimulatedFrontier } from './simulated-frontier.ts';
import { MOST_FLIPS, type Stability } from './stability.ts';

const percent = (share: number): string => (Number.isNaN(share) ? 'nothing' : `${(share * 100).toFixed(1)} %`);
const fixed = (value: number): string => value.toFixed(4);

/** What a report is held against. */
export interface Floor {
  readonly what: string;
  readonly value: number;
  readonly floor: number;
  readonly aim?: number;
}

export function floorLine({ what, value, floor, aim }: Floor): string {
  const missed = aim !== undefined && value < aim ? ', aim MISSED' : '';
  return `  ${what}: ${value.toFixed(3)} (at least ${floor}${aim === undefined ? '' : `, aim ${aim}`}): ${value >= floor ? 'met' : 'MISSED'}${missed}`;
}

/** Router, hull of single models, random mix and oracle side by side. */
export function referenceLines({ aiq, savedWithin, best, rows }: FrontierReport): string[] {
  const row = (name: string, key: keyof FrontierReport['aiq']): string[] => [
    name,
    percent(savedWithin[key]),
    fixed(aiq[key]),
  ];
  return [
    `  against ${best.model} alone (quality ${fixed(best.quality)}), ${rows} rows; the curves' own readings:`,
    ...table([
      ['', `saved at loss ≤ ${LOSS}`, 'AIQ'],
      row('router', 'router'),
      row('hull of single models', 'hull'),
      row('random mix of cheapest and best', 'randomMix'),
      row('oracle', 'oracle'),
    ]),
  ];
}

export const gapLine = ({ apgr, cpt50 }: FrontierReport): string =>
  `  APGR ${fixed(apgr)}, CPT50 ${cpt50 === undefined ? 'never' : percent(cpt50)} of calls to the best model`;

function pointLine(name: string, { saved, loss, lossError, costWeight }: OperatingPoint): string {
  return `  ${name} (weight ${costWeight.toFixed(3)}): ${percent(saved)} saved at a loss of ${fixed(loss)} ± ${fixed(lossError)}${loss > LOSS ? ' (MORE than accepted)' : ''}`;
}

function chosenLines(name: string, chosen: ChosenPoint | undefined): string[] {
  if (chosen === undefined) return [`  ${name}: no weight of cost keeps the loss in validation`];
  return [pointLine(`${name}, validation`, chosen.validation), pointLine(`${name}, test`, chosen.test)];
}

export function tableLines(frontier: TableFrontier, testFolds: readonly number[]): string[] {
  return [
    '',
    `${frontier.name}: fitted and tuned on ${frontier.trainRows} rows of folds 0-5, tested on folds ${testFolds.join(', ')}. Rewards as the table has them.`,
    ...referenceLines(frontier.test),
    gapLine(frontier.test),
    ...chosenLines('chosen by mean loss', frontier.chosen),
    ...chosenLines('chosen to be kept by a new sample at 95 %', frontier.promised),
    `  quality at no weight of cost: ${fixed(frontier.test.points[0]?.quality ?? Number.NaN)}, best fixed model ${fixed(frontier.test.best.quality)}`,
  ];
}

export function simulatorLines({ seed, decisions, weight, test, chosen }: SimulatedFrontier): string[] {
  return [
    '',
    `Simulator, seed ${seed}: learned from ${decisions} of its own decisions (Beta rewards, only the chosen model's is seen), judged by exact qualities.`,
    ...referenceLines(test),
    gapLine(test),
    `  the log: DR difference to the best model ${fixed(weight.difference)}, lower bound ${fixed(weight.lower)}, ESS ${Math.round(weight.ess)} of ${weight.rows}`,
    pointLine('chosen by the log', chosen),
  ];
}

/** The floors of a table. */
export function tableFloors({ name, test, chosen, promised }: TableFrontier): Floor[] {
  const savedBy = (point: ChosenPoint | undefined): number =>
    point === undefined || point.test.loss > LOSS ? 0 : point.test.saved;
  if (name === 'RouteLLM pair') {
    return [
      { what: `${name}, pooled APGR`, value: test.apgr, floor: 0.6, aim: 0.65 },
      {
        what: `${name}, saved at a loss ≤ ${LOSS} at the weight that promises it`,
        value: savedBy(promised),
        floor: 0.2,
      },
    ];
  }
  return [
    { what: `${name}, saved at the weight chosen in validation`, value: savedBy(chosen), floor: 0.65, aim: 0.75 },
    { what: `${name}, AIQ`, value: test.aiq.router, floor: 0.59, aim: 0.61 },
  ];
}

/** The worst kind of noise, as the share of choices that it leaves. */
export function stabilityFloor(name: string, stability: readonly Stability[]): Floor {
  const worst = stability.reduce((a, b) => (b.flips > a.flips ? b : a));
  return {
    what: `${name}, choices that noise leaves (least: ${worst.kind})`,
    value: 1 - worst.flips,
    floor: 1 - MOST_FLIPS,
  };
}

export function simulatorFloors({ seed, chosen }: SimulatedFrontier): Floor[] {
  return [
    {
      what: `simulator, seed ${seed}, saved at a loss ≤ ${LOSS}`,
      value: chosen.loss > LOSS ? 0 : chosen.saved,
      floor: 0.55,
    },
  ];
}
