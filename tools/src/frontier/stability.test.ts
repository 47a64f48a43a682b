import { NOISE_KINDS, withNoise } from './prompt-noise.ts';
import type { RoutingTable } from './routing-tables.ts';
import { MOST_FLIPS, stabilityOf } from './stability.ts';

/** Written for this test: sums, history and code, three kinds that differ in which model is good at them. */
const SUBJECTS = [
  {
    asks: ['Calculate the total of', 'How many are', 'Find the sum of'],
    about: [
      '17 and 25 apples',
      '3 boxes with 12 pens each',
      '40 minus 6 coins',
      'half of 90 metres',
      '7 trains of 8 cars',
    ],
    qualities: [0.1, 0.9],
  },
  {
    asks: ['Who was the ruler during', 'Which empire fought in', 'What year ended'],
    about: [
      'the Thirty Years War',
      'the siege of Vienna',
      'the French revolution',
      'the Punic wars',
      'the Congress of Berlin',
    ],
    qualities: [0.9, 0.9],
  },
  {
    asks: ['Write a function that sorts', 'Implement a class for', 'Return a list of'],
    about: [
      'linked nodes by key',
      'a queue with two stacks',
      'all prime factors',
      'strings without vowels',
      'a binary search tree',
    ],
    qualities: [0.2, 0.9],
  },
] as const;

const rows = SUBJECTS.flatMap(({ asks, about, qualities }) =>
  asks.flatMap((ask) =>
    about.map((what) => ({ prompt: `${ask} ${what}, and give each step that makes the answer correct.`, qualities })),
  ),
);
const table: RoutingTable = {
  name: 'sample',
  models: ['weak', 'strong'],
  folds: rows.map((_, i) => (i % 4 === 0 ? 6 : i % 6)),
  prompts: rows.map(({ prompt }) => prompt),
  features: rows.map(() => []),
  qualities: rows.map(({ qualities }) => [...qualities]),
  costs: rows.map(() => [1, 10]),
};
const all = rows.map((_, row) => row);
const held = all.filter((row) => table.folds[row] === 6);

describe('noise in a prompt', () => {
  it.each(NOISE_KINDS.filter((kind) => kind !== 'white space'))(
    'of the kind %s changes the text, the same way each time',
    (kind) => {
      const changed = all.filter((row) => withNoise(table.prompts[row] as string, kind, row) !== table.prompts[row]);
      expect(changed.length).toBeGreaterThan(all.length / 3);
      expect(withNoise('Find the total of each.', kind, 3)).toBe(withNoise('Find the total of each.', kind, 3));
    },
  );

  it('flips the base choice in under 20 % of prompts, white space and case in none', () => {
    const stability = stabilityOf(
      table,
      all.filter((row) => table.folds[row] !== 6),
      held,
      0.3,
    );
    expect(stability.map(({ prompts }) => prompts)).toEqual(NOISE_KINDS.map(() => held.length));
    for (const { kind, flips } of stability) expect([kind, flips < MOST_FLIPS]).toEqual([kind, true]);
    expect(stability.slice(0, 3).map(({ flips }) => flips)).toEqual([0, 0, 0]);
  });
});
