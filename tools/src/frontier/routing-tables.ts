import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { QualityTable } from '@sluice/routing';

/**
 * A public table of prompts, qualities and costs of several models; docs/routing-evidence.md says what the files
 * hold.
 */
export interface RoutingTable extends QualityTable {
  readonly name: string;
  /** 0 to 9, by the prompt's hash: the same prompt is never in two. */
  readonly folds: readonly number[];
  /** Undefined where the source withholds it. */
  readonly prompts: readonly (string | undefined)[];
  /** The sixteen features that the table itself gives. */
  readonly features: readonly (readonly number[])[];
}

type Row = Readonly<Record<string, string>>;

/** Output tokens that a nine-model row is priced with: the table has none. */
const OUTPUT_TOKENS = 200;

/**
 * The tables that a folder holds; empty when it has none of them.
 * @throws Error naming the file that is not as documented.
 */
export function readRoutingTables(folder: string): RoutingTable[] {
  const tables: RoutingTable[] = [];
  if (existsSync(join(folder, 'routellm_questions.csv.gz'))) tables.push(readPair(folder));
  if (existsSync(join(folder, 'llmrouter9_questions.csv.gz'))) tables.push(readNine(folder));
  return tables;
}

/**
 * Strong and weak model of RouteLLM's published evaluations; prompts that were in the training data of its authors
 * are left out.
 */
function readPair(folder: string): RoutingTable {
  const rows = readCsv(folder, 'routellm_questions.csv.gz').filter(({ contaminated }) => contaminated !== '1');
  return tableOf(folder, 'routellm', 'RouteLLM pair', rows, ['mixtral-8x7b', 'gpt-4-1106'], (row) => ({
    qualities: [numberOf(row, 'weak_correct'), numberOf(row, 'strong_correct')],
    costs: [numberOf(row, 'cost_weak_usd'), numberOf(row, 'cost_strong_usd')],
  }));
}

function readNine(folder: string): RoutingTable {
  const rows = readCsv(folder, 'llmrouter9_questions.csv.gz');
  const prices = JSON.parse(readFileSync(join(folder, 'llmrouter9_prices.json'), 'utf8')) as Record<
    string,
    { input_usd_per_mtok: number; output_usd_per_mtok: number }
  >;
  const models = Object.keys(rows[0] ?? {})
    .filter((column) => column.startsWith('score:'))
    .map((column) => column.slice('score:'.length));
  return tableOf(folder, 'llmrouter9', 'LLMRouter nine models', rows, models, (row) => ({
    qualities: models.map((model) => numberOf(row, `score:${model}`)),
    costs: models.map((model) => {
      const price = prices[model];
      if (price === undefined) throw new Error(`llmrouter9_prices.json has no price of ${model}`);
      return (
        (numberOf(row, 'tokens_in_est') * price.input_usd_per_mtok + OUTPUT_TOKENS * price.output_usd_per_mtok) / 1e6
      );
    }),
  }));
}

function tableOf(
  folder: string,
  file: string,
  name: string,
  rows: readonly Row[],
  models: readonly string[],
  read: (row: Row) => { qualities: number[]; costs: number[] },
): RoutingTable {
  const texts = new Map<string, string>();
  for (const line of unzipped(folder, `${file}_prompts.jsonl.gz`).split('\n')) {
    if (line === '') continue;
    const { qid, prompt } = JSON.parse(line) as { qid: string; prompt: string };
    texts.set(qid, prompt);
  }
  const features = Object.keys(rows[0] ?? {}).filter((column) => column.startsWith('f_'));
  const values = rows.map(read);
  return {
    name,
    models,
    qualities: values.map(({ qualities }) => qualities),
    costs: values.map(({ costs }) => costs),
    folds: rows.map((row) => numberOf(row, 'fold')),
    prompts: rows.map(({ qid }) => texts.get(qid as string)),
    features: rows.map((row) => features.map((column) => numberOf(row, column))),
  };
}

function readCsv(folder: string, file: string): Row[] {
  const text = unzipped(folder, file).trimEnd();
  if (text.includes('"')) throw new Error(`${file} has quoted fields, which are not read`);
  const [head = '', ...lines] = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const names = head.split(',');
  return lines.map((line, i) => {
    const cells = line.split(',');
    if (cells.length !== names.length)
      throw new Error(`${file}, line ${i + 2}: ${cells.length} fields instead of ${names.length}`);
    return Object.fromEntries(names.map((name, column) => [name, cells[column] as string]));
  });
}

function unzipped(folder: string, file: string): string {
  return gunzipSync(readFileSync(join(folder, file))).toString('utf8');
}

function numberOf(row: Row, column: string): number {
  const text = row[column];
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new Error(`row ${row['qid']}: ${column} is ${text}, not a number`);
  return value;
}
