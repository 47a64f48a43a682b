/** What marks a clause as courtesy; without one of these it is kept. */
const MARKS = new Set(
  'hi hello hey dear greetings morning afternoon evening please kindly thanks thank sorry excuse pardon help helping assist tell know wonder wondering ask asking question questions query answer answers quick regards cheers appreciated appreciate grateful'.split(
    ' ',
  ),
);
/** Words that say nothing of what is asked, where nothing else stands in the clause. */
const FILLERS = new Set(
  "good day there you your u very so much many a lot in advance again bother bothering disturb me my mine us our i i'd i'm i've we it its this that these the an some something anything someone one another more last next few short small little simple easy can could would will may might must should do does did is are be been was am have has had having got get like love want need wish wished hope let lets let's try give for with about of on to from at and but or if possible just here now today well okay ok following mind time moment minute sir madam friend friends everyone all assistant best kind really also out know following".split(
    ' ',
  ),
);
/** A longer clause is no courtesy. Characters. */
const LONGEST = 64;
/** Clauses that are taken away at most on either side. */
const CLAUSES = 3;

/**
 * The prompt without a greeting, a plea or thanks around it: clauses of at most 64 characters at its beginning and
 * sentences at its end that hold courteous and empty words alone. A prompt that is nothing else stays as it is.
 */
export function withoutCourtesy(prompt: string): string {
  let from = 0;
  let to = prompt.length;
  for (let clause = 0; clause < CLAUSES; clause += 1) {
    const end = clauseEnd(prompt, from);
    if (end === undefined || !isCourtesy(prompt.slice(from, end))) break;
    from = end;
  }
  for (let clause = 0; clause < CLAUSES; clause += 1) {
    const start = sentenceStart(prompt, from, to);
    if (start === undefined || !isCourtesy(prompt.slice(start, to))) break;
    to = start;
  }
  if (from === 0 && to === prompt.length) return prompt;
  return hasWord(prompt, from, to) ? prompt.slice(from, to) : prompt;
}

/** Behind the first mark that ends a clause and what follows it of the kind; undefined when there is none near. */
function clauseEnd(text: string, from: number): number | undefined {
  const last = Math.min(text.length, from + LONGEST);
  let words = false;
  for (let i = from; i < last; i += 1) {
    const character = text.charAt(i);
    if (!isMark(character) && character !== ',' && character !== ':' && character !== ';') {
      words ||= character.trim() !== '';
      continue;
    }
    if (words) return i + 1;
  }
  return undefined;
}

/** Behind the mark before the last sentence; undefined when there is none near. */
function sentenceStart(text: string, from: number, to: number): number | undefined {
  const first = Math.max(from, to - LONGEST);
  let words = false;
  for (let i = to - 1; i > first; i -= 1) {
    const character = text.charAt(i);
    if (!isMark(character)) words ||= character.trim() !== '';
    else if (words) return i + 1;
  }
  return undefined;
}

const isMark = (character: string): boolean =>
  character === '.' || character === '!' || character === '?' || character === '\n';

function isCourtesy(clause: string): boolean {
  let marked = false;
  for (const word of wordsOf(clause)) {
    if (MARKS.has(word)) marked = true;
    else if (!FILLERS.has(word)) return false;
  }
  return marked;
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

function hasWord(text: string, from: number, to: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.slice(from, to));
}
