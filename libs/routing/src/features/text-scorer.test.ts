import { createRandom } from '../testing/random.ts';
import { createTextExtractor, scorePrior } from './text-extractor.ts';
import { fitScale, standardise } from './feature-scale.ts';
import { createTextScorer, fitTextScorer } from './text-scorer.ts';
import { TEXT_FEATURES } from './text-features.ts';
import { textGrams } from './text-grams.ts';

const TOPICS = [
  ['integral', 'matrix', 'theorem', 'polynomial'],
  ['treaty', 'empire', 'revolution', 'parliament'],
  ['enzyme', 'membrane', 'protein', 'nucleus'],
];
const FILLER = ['what', 'is', 'the', 'of', 'a', 'which', 'these', 'best'];
/** The weak model knows history alone. */
const quality = (topic: number): [number, number] => [topic === 1 ? 0.9 : 0.3, 0.85];

function corpus(seed: number, count: number): { prompts: string[]; topics: number[]; qualities: number[][] } {
  const random = createRandom(seed);
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] as string;
  const topics = Array.from({ length: count }, () => Math.floor(random() * 3));
  const prompts = topics.map((topic) =>
    Array.from({ length: 8 }, (_, i) => pick(i === 3 || i === 6 ? (TOPICS[topic] as string[]) : FILLER)).join(' '),
  );
  return { prompts, topics, qualities: topics.map((topic) => quality(topic).map((mean) => (random() < mean ? 1 : 0))) };
}

const train = corpus(1, 1_200);
const state = fitTextScorer({ models: ['weak', 'strong'], ...train });
const scorer = createTextScorer(state);

describe('the scorer of prompts', () => {
  it('learns from words which model is good at what, also for prompts it has not seen', () => {
    const test = corpus(2, 300);
    const right = test.prompts.filter((prompt, i) => {
      const [weak, strong] = scorer.score(prompt) as [number, number];
      return strong - weak > 0.25 === (test.topics[i] !== 1);
    });
    expect(right.length / 300).toBeGreaterThan(0.95);
  });

  it('says the same after a trip through JSON, and for other case, white space and punctuation', () => {
    const again = createTextScorer(JSON.parse(JSON.stringify(state)) as typeof state);
    const prompt = 'what is the best theorem of matrix';
    expect(again.score(prompt)).toEqual(scorer.score(prompt));
    expect(scorer.score(`  ${prompt.toUpperCase().replaceAll(' ', '   ')}`)).toEqual(scorer.score(prompt));
    expect([...textGrams('What  is\n\n(THE best) theorem... of matrix', 1_024)]).toEqual([...textGrams(prompt, 1_024)]);
    expect([...textGrams('what is the best lemma of matrix', 1_024)]).not.toEqual([...textGrams(prompt, 1_024)]);
  });

  it('gives nothing on length, so that a sentence before a prompt moves it by its words alone', () => {
    const coefficients = (name: (typeof TEXT_FEATURES)[number]): number[] =>
      state.features.slice((TEXT_FEATURES.indexOf(name) + 1) * 2, (TEXT_FEATURES.indexOf(name) + 2) * 2);
    expect([...coefficients('log_chars'), ...coefficients('log_words')]).toEqual([0, 0, 0, 0]);
    expect(coefficients('mean_word_length').every((value) => value !== 0)).toBe(true);
  });

  it('stays finite for an empty, an endless and a strange prompt', () => {
    for (const prompt of ['', ' \n', 'x'.repeat(1e5), '\ud800 \u0000'.repeat(99), '質問 ответ'])
      expect(scorer.score(prompt).every(Number.isFinite)).toBe(true);
  });

  it('refuses examples and states that do not fit together, and says how', () => {
    expect(() => fitTextScorer({ models: ['a'], prompts: ['x'], qualities: [] })).toThrow('1 prompts and 0 rows');
    expect(() => fitTextScorer({ models: ['a'], prompts: ['x'], qualities: [[1.5]] })).toThrow(
      'row 0 must have 1 qualities in [0, 1]',
    );
    expect(() => createTextScorer({ ...state, models: ['weak'] })).toThrow('do not fit 1 models');
    expect(() => createTextScorer({ ...state, kind: 'forest' as 'hashed-ridge' })).toThrow(
      'the kind forest is not known',
    );
    expect(() => textGrams('a', 1_000)).toThrow('power of two');
  });
});

it('the extractor of a policy with scores gives an arm that starts at its score', () => {
  const extractor = createTextExtractor({ kind: 'text+scores', scorer: state });
  expect(extractor.names.slice(-2)).toEqual(['score:weak', 'score:strong']);
  const scale = fitScale(train.prompts.map((prompt) => extractor.extract(prompt)));
  const prompt = train.prompts[0] as string;
  const theta = scorePrior(extractor.names, scale, 'weak');
  const mean = standardise(extractor.extract(prompt), scale).reduce(
    (sum, value, i) => sum + value * (theta[i] as number),
    0,
  );
  expect(mean).toBeCloseTo(scorer.score(prompt)[0] as number, 9);
  expect(scorePrior(extractor.names, scale, 'another').every((value) => value === 0)).toBe(true);
  expect(() => createTextExtractor({ kind: 'vision' } as never)).toThrow('the kind vision is not known');
});
