/** One line of a comparison of two documents. */
export interface ComparedLine {
  readonly side: 'both' | 'theirs' | 'mine';
  readonly text: string;
}

/** Compares two documents line by line: the longest common run stays, the rest is told by side. */
export function compareLines(theirs: string, mine: string): ComparedLine[] {
  const a = theirs.split('\n');
  const b = mine.split('\n');
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1)
      (common[i] as number[])[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: ComparedLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ side: 'both', text: a[i] as string });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ side: 'theirs', text: a[i] as string });
      i += 1;
    } else {
      lines.push({ side: 'mine', text: b[j] as string });
      j += 1;
    }
  }
  return lines;
}
