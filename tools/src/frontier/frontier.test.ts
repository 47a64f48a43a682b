import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createRandom } from '@sluice/routing/testing';
import { frontierOptions } from './frontier-options.ts';
import { LOSS, tableFrontier } from './frontier.ts';
import { frontierSvg } from './plot-frontier.ts';
import { scorer, type Predictor } from './predictors.ts';
import { readRoutingTables, type RoutingTable } from './routing-tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-tables-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A pair of models in the documented form: the weak one fails at sums. One prompt is withheld, one is contaminated. */
function writePair(change: (line: string) => string = (line) => line): void {
  const head =
    'qid,bench,domain,fold,contaminated,tokens_in_est,tokens_out_weak_est,tokens_out_strong_est,weak_correct,strong_correct,cost_weak_usd,cost_strong_usd,f_log_chars,f_log_words';
  const lines: string[] = [];
  const prompts: string[] = [];
  for (let i = 0; i < 800; i += 1) {
    const sum = i % 2 === 0;
    lines.push(
      change(
        `q${i},mmlu,x,${Math.floor(i / 2) % 10},${i === 5 ? 1 : 0},20,1,1,${sum ? 0 : 1},1,0.00001,0.001,${sum ? 4 : 5},${3 + (i % 7)}`,
      ),
    );
    if (i !== 12)
      prompts.push(
        JSON.stringify({
          qid: `q${i}`,
          prompt: sum ? `Calculate the sum of ${i} and seven` : `Who wrote the novel number ${i}`,
        }),
      );
  }
  writeFileSync(join(folder, 'routellm_questions.csv.gz'), gzipSync(`${head}\n${lines.join('\n')}\n`));
  writeFileSync(join(folder, 'routellm_prompts.jsonl.gz'), gzipSync(`${prompts.join('\n')}\n`));
}

describe('the frontier of a folder of tables', () => {
  it('is fitted on folds 0-5 alone and finds what words tell', () => {
    writePair();
    const [table] = readRoutingTables(folder);
    if (table === undefined) throw new Error('no table');
    expect(table.folds).toHaveLength(799);
    const { test, chosen, trainRows } = tableFrontier(table, scorer({ buckets: 1_024 }));
    expect([trainRows, test.rows]).toEqual([479, 160]);
    expect(test.apgr).toBeGreaterThan(0.7);
    expect(chosen?.test.loss).toBeCloseTo(0, 9);
    expect(chosen?.test.saved).toBeCloseTo(0.495, 2);
    expect(() => tableFrontier(table, scorer({ buckets: 1_024 }), [5])).toThrow('test folds must not be among 0-5');
    expect(frontierSvg({ ...tableFrontier(table, scorer({ buckets: 1_024 })), name: 'A pair' })).toMatch(
      /^<svg .*A pair.*chosen: 49 % saved/s,
    );
  });

  it('promises a loss only where a new sample of as many rows as the test has would keep it too', () => {
    // What is predicted says the weak model's chance; of what it is asked for, it fails at a part that nobody can know.
    const random = createRandom(5);
    const table: RoutingTable = {
      name: 'chances',
      models: ['weak', 'strong'],
      prompts: [],
      features: [],
      folds: Array.from({ length: 4_000 }, (_, i) => i % 8),
      qualities: Array.from({ length: 4_000 }, (_, i) => [random() < 0.6 + 0.4 * ((i % 97) / 97) ? 1 : 0, 1]),
      costs: Array.from({ length: 4_000 }, () => [1, 10]),
    };
    const knowing: Predictor = (_, __, rows) => rows.map((row) => [0.6 + 0.4 * ((row % 97) / 97), 1]);
    const { chosen, promised } = tableFrontier(table, knowing);
    const { loss = 1, lossError = 1, saved = 1 } = promised?.validation ?? {};
    expect(loss + 1.645 * lossError * Math.sqrt(1 + 3_000 / 1_000)).toBeLessThanOrEqual(LOSS);
    expect(saved).toBeGreaterThan(0.1);
    expect(saved).toBeLessThan((chosen?.validation.saved ?? 0) - 0.05);
    expect(promised?.test.loss).toBeLessThanOrEqual(LOSS);
  });

  it('changes nothing of what is chosen when the qualities of the test folds do', () => {
    writePair();
    const chosenOf = () =>
      tableFrontier(readRoutingTables(folder)[0] as never, scorer({ buckets: 1_024 })).chosen?.validation;
    const before = chosenOf();
    writePair((line) => (/^q\d+,mmlu,x,[67],/.test(line) ? line.replace(/,[01],1,0\.00001/, ',1,0,0.00001') : line));
    expect(chosenOf()).toEqual(before);
  });

  it('names the file or the row that is not as documented, and has nothing to say of an empty folder', () => {
    writePair((line) => line.replace('q7,mmlu,x', 'q7,mmlu'));
    expect(() => readRoutingTables(folder)).toThrow('routellm_questions.csv.gz, line 9: 13 fields instead of 14');
    writePair((line) => line.replace(/^(q9,.*),1,1,0.00001/, '$1,1,yes,0.00001'));
    expect(() => readRoutingTables(folder)).toThrow('row q9: strong_correct is yes, not a number');
    expect(readRoutingTables(join(folder, 'nothing'))).toEqual([]);
  });
});

it('the shell names the folder and the test folds, and never a fold that is fitted on', () => {
  expect(frontierOptions({ SLUICE_ROUTER_DATA: '/a' })).toEqual({ data: '/a', testFolds: [6, 7], compare: false });
  expect(frontierOptions({ FRONTIER_TEST_FOLDS: '8,9', FRONTIER_COMPARE: '1' }, ['--data', '/b'])).toEqual({
    data: '/b',
    testFolds: [8, 9],
    compare: true,
  });
  expect(() => frontierOptions({ FRONTIER_TEST_FOLDS: '5' })).toThrow('FRONTIER_TEST_FOLDS');
  expect(() => frontierOptions({}, ['--data'])).toThrow('--data needs a folder');
});
