import type { MemberRange, ObjectIndex } from '@sluice/contracts';
import { scanObject } from './json-scan.ts';

/** One change to a top-level member: another value, or none (`undefined` takes the member out). */
export type Splice = readonly [key: string, value: unknown];

/**
 * Replaces, adds or removes top-level members and leaves every other byte as it was. Returns the same buffer when
 * nothing has to change.
 *
 * @param json a valid JSON object.
 * @param known where its members stand; without it, or where it lacks one of the keys, the text is walked over.
 */
export function spliceTopLevel(json: Buffer, splices: readonly Splice[], known?: ObjectIndex): Buffer {
  if (splices.length === 0) return json;
  const index =
    known !== undefined && splices.every(([key]) => known.keys.has(key))
      ? known
      : scanObject(json, new Set(splices.map(([key]) => key))).index;
  const { members } = index;
  const parts: Buffer[] = [];
  const added: string[] = [];
  const removed: MemberRange[] = [];
  const edits: Edit[] = [];
  for (const [key, value] of splices) {
    const last = members.findLast((member) => member.key === key);
    if (value === undefined) removed.push(...members.filter((member) => member.key === key));
    else if (last === undefined) added.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
    else edits.push({ start: last.valueStart, end: last.valueEnd, text: JSON.stringify(value) });
  }
  edits.push(...removals(removed));
  if (edits.length === 0 && added.length === 0) return json;
  if (added.length > 0) {
    const comma = index.count > removed.length ? ',' : '';
    edits.push({ start: index.closeAt, end: index.closeAt, text: comma + added.join(',') });
  }
  edits.sort((a, b) => a.start - b.start);
  let from = 0;
  for (const { start, end, text } of edits) {
    parts.push(json.subarray(from, start), Buffer.from(text));
    from = end;
  }
  return Buffer.concat([...parts, json.subarray(from)]);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The bytes of members with the commas that belong to them: one edit for each run of neighbours. */
function removals(removed: readonly MemberRange[]): Edit[] {
  const edits: Edit[] = [];
  const inOrder = removed.toSorted((a, b) => a.ordinal - b.ordinal);
  for (let at = 0; at < inOrder.length; at += 1) {
    const first = inOrder[at] as MemberRange;
    let last = first;
    while (inOrder[at + 1]?.ordinal === last.ordinal + 1) last = inOrder[(at += 1)] as MemberRange;
    if (last.nextStart !== undefined) edits.push({ start: first.keyStart, end: last.nextStart, text: '' });
    else edits.push({ start: first.previousEnd ?? first.keyStart, end: last.valueEnd, text: '' });
  }
  return edits;
}
