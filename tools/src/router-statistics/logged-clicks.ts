import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { evaluatePolicy, type Evaluation, type LoggedData } from '@sluice/routing';

/** What the log of one real policy says of showing every item equally often. */
export interface ClickEvaluation {
  readonly policy: string;
  readonly rows: number;
  readonly evaluation: Evaluation;
}

/**
 * Evaluates uniform choice from each policy and campaign of the Open Bandit Data, whose propensities are the true
 * ones; undefined where the folder has no such file. The log tells the probability of the shown item alone: the
 * rest is spread over the others, which no weight depends on.
 */
export function evaluateClicks(folder: string): ClickEvaluation[] | undefined {
  const path = join(folder, 'obd_small.csv.gz');
  if (!existsSync(path)) return undefined;
  const [head = '', ...lines] = gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n');
  const names = head.split(',');
  const column = (name: string): number => {
    const at = names.indexOf(name);
    if (at < 0) throw new Error(`${path} has no column ${name}`);
    return at;
  };
  const [policy, campaign, item, click, propensity] = [
    'behavior_policy',
    'campaign',
    'item_id',
    'click',
    'propensity',
  ].map(column) as [number, number, number, number, number];
  const groups = new Map<string, string[][]>();
  for (const line of lines) {
    const cells = line.split(',');
    const name = `${cells[policy]} / ${cells[campaign]}`;
    let group = groups.get(name);
    if (group === undefined) groups.set(name, (group = []));
    group.push(cells);
  }
  return [...groups].map(([name, rows]) => {
    const items = [...new Set(rows.map((cells) => cells[item] as string))];
    const place = new Map(items.map((id, i) => [id, i]));
    const actions = rows.map((cells) => place.get(cells[item] as string) as number);
    const data: LoggedData = {
      contexts: rows.map(() => []),
      actions,
      chosenOnly: true,
      rewards: rows.map((cells) => Number(cells[click])),
      loggedProbabilities: rows.map((cells, i) => {
        const p = Number(cells[propensity]);
        return items.map((_, arm) => (arm === actions[i] ? p : (1 - p) / (items.length - 1)));
      }),
    };
    const uniform = items.map(() => 1 / items.length);
    return {
      policy: name,
      rows: rows.length,
      evaluation: evaluatePolicy(
        data,
        rows.map(() => uniform),
      ),
    };
  });
}

/** Those whose overlap is known to be too small for a number. */
export const TO_BE_REFUSED = ['bts / men', 'bts / women'];
