const MOST_DOLLARS = 1_000_000;

/**
 * Reads an amount of dollars that a person typed (`250`, `1,250.50`, `$3`) as whole nanodollars, without a float in
 * between.
 *
 * @returns a sentence when it is none.
 */
export function readDollars(text: string): number | string {
  const match = /^\$?\s*(\d{1,3}(?:,\d{3})*|\d+)(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (match === null) return 'Give an amount in dollars, such as 250 or 1,250.50.';
  const [, whole = '', fraction = ''] = match;
  const dollars = Number(whole.replaceAll(',', ''));
  if (dollars > MOST_DOLLARS || (dollars === MOST_DOLLARS && Number(fraction) > 0))
    return `The most that can be set here is $${MOST_DOLLARS.toLocaleString('en-US')}.`;
  return dollars * 1e9 + Number(fraction.padEnd(9, '0'));
}
