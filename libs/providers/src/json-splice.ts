const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

/** Where one top-level member of a JSON object stands, as byte offsets. */
export interface MemberRange {
  readonly key: string;
  /** First byte of the key's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** One past the value's last byte. */
  readonly valueEnd: number;
}

/**
 * Finds the top-level members of a JSON object without parsing their values. The text must be valid JSON (parse it
 * first); duplicate keys are given in their order.
 */
export function topLevelMembers(json: Buffer): MemberRange[] {
  const members: MemberRange[] = [];
  let i = skipSpace(json, 0);
  if (json[i] !== OPEN_BRACE) return members;
  i = skipSpace(json, i + 1);
  while (i < json.length && json[i] !== CLOSE_BRACE) {
    const keyStart = i;
    const keyEnd = endOfString(json, keyStart);
    i = skipSpace(json, keyEnd);
    if (json[i] === COLON) i = skipSpace(json, i + 1);
    const valueStart = i;
    const valueEnd = endOfValue(json, valueStart);
    members.push({
      key: JSON.parse(json.toString('utf8', keyStart, keyEnd)) as string,
      keyStart,
      valueStart,
      valueEnd,
    });
    i = skipSpace(json, valueEnd);
    if (json[i] === COMMA) i = skipSpace(json, i + 1);
  }
  return members;
}

/** One change to a top-level member: another value, or none (`undefined` takes the member out). */
export type Splice = readonly [key: string, value: unknown];

/**
 * Replaces, adds or removes top-level members and leaves every other byte as it was. Returns the same buffer when
 * nothing has to change.
 */
export function spliceTopLevel(json: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return json;
  const members = topLevelMembers(json);
  const parts: Buffer[] = [];
  const added: string[] = [];
  const removed = new Set<number>();
  const edits: Edit[] = [];
  for (const [key, value] of splices) {
    const last = members.findLast((member) => member.key === key);
    if (value === undefined) {
      for (const [index, member] of members.entries()) if (member.key === key) removed.add(index);
    } else if (last === undefined) added.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
    else edits.push({ start: last.valueStart, end: last.valueEnd, text: JSON.stringify(value) });
  }
  edits.push(...removals(members, removed));
  if (edits.length === 0 && added.length === 0) return json;
  edits.sort((a, b) => a.start - b.start);
  let from = 0;
  for (const { start, end, text } of edits) {
    parts.push(json.subarray(from, start), Buffer.from(text));
    from = end;
  }
  const rest = json.subarray(from);
  if (added.length === 0) return Buffer.concat([...parts, rest]);
  const close = rest.lastIndexOf(CLOSE_BRACE);
  return Buffer.concat([
    ...parts,
    rest.subarray(0, close),
    Buffer.from((members.length > removed.size ? ',' : '') + added.join(',')),
    rest.subarray(close),
  ]);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The bytes of members with the commas that belong to them: one edit for each run of neighbours. */
function removals(members: readonly MemberRange[], removed: ReadonlySet<number>): Edit[] {
  const edits: Edit[] = [];
  for (let first = 0; first < members.length; first += 1) {
    if (!removed.has(first)) continue;
    let last = first;
    while (removed.has(last + 1)) last += 1;
    const { keyStart } = members[first] as MemberRange;
    const next = members[last + 1];
    const previous = members[first - 1];
    if (next !== undefined) edits.push({ start: keyStart, end: next.keyStart, text: '' });
    else edits.push({ start: previous?.valueEnd ?? keyStart, end: (members[last] as MemberRange).valueEnd, text: '' });
    first = last;
  }
  return edits;
}

function skipSpace(json: Buffer, from: number): number {
  let i = from;
  while (i < json.length && (json[i] === 0x20 || json[i] === 0x0a || json[i] === 0x0d || json[i] === 0x09)) i += 1;
  return i;
}

/** @param start offset of the opening quote. */
function endOfString(json: Buffer, start: number): number {
  let i = start + 1;
  while (i < json.length) {
    const quote = json.indexOf(QUOTE, i);
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json[quote - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    i = quote + 1;
  }
  return json.length;
}

function endOfValue(json: Buffer, start: number): number {
  const first = json[start];
  if (first === QUOTE) return endOfString(json, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let i = start;
    while (
      i < json.length &&
      json[i] !== COMMA &&
      json[i] !== CLOSE_BRACE &&
      json[i] !== CLOSE_BRACKET &&
      (json[i] as number) > 0x20
    )
      i += 1;
    return i;
  }
  let depth = 0;
  for (let i = start; i < json.length; i += 1) {
    const byte = json[i];
    if (byte === QUOTE) i = endOfString(json, i) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return json.length;
}
