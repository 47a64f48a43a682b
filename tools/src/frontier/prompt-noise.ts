import { createRandom } from '@sluice/routing/testing';

/** Words and what someone else might have written. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  which: 'what',
  what: 'which',
  following: 'below',
  most: 'mainly',
  best: 'most fittingly',
  describes: 'characterises',
  because: 'since',
  since: 'because',
  calculate: 'compute',
  compute: 'calculate',
  find: 'determine',
  determine: 'find',
  many: 'numerous',
  big: 'large',
  large: 'big',
  small: 'little',
  between: 'among',
  also: 'too',
  however: 'but',
  but: 'yet',
  therefore: 'thus',
  if: 'in case',
  person: 'individual',
  people: 'persons',
  man: 'guy',
  uses: 'employs',
  use: 'employ',
  says: 'states',
  makes: 'creates',
  make: 'create',
  gets: 'obtains',
  get: 'obtain',
  buys: 'purchases',
  give: 'provide',
  gives: 'provides',
  total: 'overall',
  shows: 'displays',
  likely: 'probable',
  usually: 'normally',
  about: 'around',
  each: 'every',
  every: 'each',
  all: 'all of',
  correct: 'right',
  true: 'right',
  answer: 'reply',
  question: 'query',
};
/** Said in other words than those that the scorer knows as courtesy, and openings that tell something. */
const UNKNOWN_OPENINGS = [
  'Would you mind having a look at the riddle below? ',
  'Hope you are fine! ',
  'Got a little puzzle for you. ',
  'Dear chatbot, ',
  'Hey, still awake? ',
];
const TELLING_OPENINGS = [
  'My teacher asked me this yesterday. ',
  'For my homework: ',
  'Here comes another riddle for the evening. ',
];
const CLOSINGS = [' Thanks!', ' Thank you very much in advance.', '\n\nPlease help me.'];
const OPENINGS = ['Please tell me: ', 'Hi, quick one. ', 'I would like to know this. '];

export type NoiseKind =
  | 'white space'
  | 'lower case'
  | 'UPPER CASE'
  | 'paraphrase'
  | 'typing errors'
  | 'opening'
  | 'paraphrase and opening'
  | 'closing'
  | 'unknown opening'
  | 'telling opening';
export const NOISE_KINDS: readonly NoiseKind[] = [
  'white space',
  'lower case',
  'UPPER CASE',
  'paraphrase',
  'typing errors',
  'opening',
  'paraphrase and opening',
  'closing',
  'unknown opening',
  'telling opening',
];

/** The same request as another would write it. Deterministic in the seed. */
export function withNoise(prompt: string, kind: NoiseKind, seed: number): string {
  const random = createRandom(seed);
  const pick = (values: readonly string[]): string => values[Math.floor(random() * values.length)] as string;
  switch (kind) {
    case 'white space':
      return `  ${prompt.replace(/\s/g, (space) => (space === '\n' ? pick(['\n', '\n\n', ' \n']) : pick([' ', '  ', '\t'])))}\n`;
    case 'lower case':
      return prompt.toLowerCase();
    case 'UPPER CASE':
      return prompt.toUpperCase();
    case 'paraphrase':
      return prompt.replace(/[A-Za-z]+/g, (word) => {
        const lower = word.toLowerCase();
        if ((lower === 'the' || lower === 'a') && random() < 0.15) return '';
        const other = Object.hasOwn(OTHER_WORDS, lower) ? OTHER_WORDS[lower] : undefined;
        return other === undefined || random() < 0.2 ? word : other;
      });
    case 'opening':
      return pick(OPENINGS) + prompt;
    case 'closing':
      return prompt + pick(CLOSINGS);
    case 'unknown opening':
      return pick(UNKNOWN_OPENINGS) + prompt;
    case 'telling opening':
      return pick(TELLING_OPENINGS) + prompt;
    case 'paraphrase and opening':
      return withNoise(withNoise(prompt, 'paraphrase', seed), 'opening', seed + 1);
    case 'typing errors':
      return prompt.replace(/[A-Za-z]{4,}/g, (word) => {
        if (random() > 0.05) return word;
        const at = 1 + Math.floor(random() * (word.length - 3));
        return word.slice(0, at) + (word[at + 1] as string) + (word[at] as string) + word.slice(at + 2);
      });
  }
}
