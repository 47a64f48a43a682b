import { policyOf } from '../test-support/fixture-views.ts';
import { changedPaths, mergeEdits, sameValue } from './merge-edits.ts';
import { edits, editorReducer, startEditing, undecided, type EditorState } from './editor-state.ts';
import { fieldsOf, overrideFrom } from './override-fields.ts';
import { FIELD_PATHS } from './policy-fields.ts';
import { faultOf } from './check-value.ts';

const RATE_20 = { perSecond: 20, burst: 40 };
const base = policyOf({ limits: { requests: RATE_20 } }, 7);
const edit = (state: EditorState, path: string, value: unknown): EditorState =>
  editorReducer(state, { type: 'edit', path, value });

describe('merging two edits of one policy', () => {
  it('takes what only one side changed, and disputes only what both changed differently', () => {
    expect(
      mergeEdits(
        { a: 1, b: 1, c: 1, d: 1, e: 1 },
        { a: 2, b: 1, c: 2, d: 3, e: undefined },
        { a: 1, b: 2, c: 2, d: 4, e: 1 },
      ),
    ).toEqual({
      merged: { a: 2, b: 2, c: 2, d: 3, e: undefined },
      conflicts: [{ path: 'd', before: 1, mine: 3, theirs: 4 }],
      taken: ['b'],
    });
  });

  it('a field that one side gave back to the plan and the other changed is disputed', () => {
    expect(mergeEdits({ a: 1 }, {}, { a: 2 }).conflicts).toEqual([
      { path: 'a', before: 1, mine: undefined, theirs: 2 },
    ]);
  });

  it('the order of keys is no difference, that of a list is', () => {
    expect(sameValue({ x: 1, y: [1, 2] }, { y: [1, 2], x: 1, z: undefined })).toBe(true);
    expect(sameValue([1, 2], [2, 1])).toBe(false);
    expect(sameValue({ 0: 1 }, [1])).toBe(false);
    expect(changedPaths({ a: { x: 1 } }, { a: { x: 1 }, b: undefined })).toEqual([]);
  });
});

describe('the policy editor', () => {
  it('an override survives being taken apart and put together', () => {
    const override = {
      limits: { requests: RATE_20, quotas: [] },
      routing: { aliases: { fast: 'sim-small' } },
      stopMidStream: true,
    };
    expect(overrideFrom(fieldsOf(override, new Set(FIELD_PATHS)))).toEqual(override);
  });

  it('knows every field that the policy has, so that none can be edited by nobody', () => {
    const nested = new Set(['limits', 'routing', 'deadlines', 'retries', 'dataRules', 'cache']);
    const all = Object.entries(base.plan.policy).flatMap(([name, value]) =>
      nested.has(name) ? Object.keys(value as object).map((inner) => `${name}.${inner}`) : [name],
    );
    expect(all.filter((path) => !FIELD_PATHS.includes(path))).toEqual([]);
  });

  it('an edit taken back is no edit', () => {
    const edited = edit(startEditing(base), 'stopMidStream', true);
    expect(edits(edited)).toEqual(['stopMidStream']);
    expect(edits(edit(edited, 'stopMidStream', undefined))).toEqual([]);
  });

  it('a newer version that touched other fields is merged by itself and saved on top of it', () => {
    const mine = edit(startEditing(base), 'stopMidStream', true);
    const met = editorReducer(mine, {
      type: 'meet',
      current: policyOf({ limits: { requests: RATE_20, tokens: { perMinute: 9 } } }, 8),
    });
    expect(undecided(met)).toEqual([]);
    expect(met.merge?.taken).toEqual(['limits.tokens']);
    expect(overrideFrom(met.draft)).toEqual({
      limits: { requests: RATE_20, tokens: { perMinute: 9 } },
      stopMidStream: true,
    });
    expect([met.base.version, edits(met)]).toEqual([8, ['stopMidStream']]);
  });

  it('what both changed waits for a decision, and either can be chosen', () => {
    const mine = edit(startEditing(base), 'limits.requests', { perSecond: 5, burst: 5 });
    const met = editorReducer(mine, {
      type: 'meet',
      current: policyOf({ limits: { requests: { perSecond: 9, burst: 9 } } }, 8),
    });
    expect(undecided(met).map(({ path }) => path)).toEqual(['limits.requests']);
    const theirs = editorReducer(met, { type: 'decide', path: 'limits.requests', side: 'theirs' });
    expect([undecided(theirs), edits(theirs)]).toEqual([[], []]);
    const back = editorReducer(theirs, { type: 'decide', path: 'limits.requests', side: 'mine' });
    expect(back.draft['limits.requests']).toEqual({ perSecond: 5, burst: 5 });
  });

  it('goes by what both began from, when the backend still knows it', () => {
    // The editor stands on version 7; the person's edit is what version 8 had made in between.
    const mine = edit(startEditing(base), 'stopMidStream', true);
    const met = editorReducer(mine, {
      type: 'meet',
      current: policyOf({ stopMidStream: false }, 9),
      before: { stopMidStream: true },
    });
    expect(met.draft['stopMidStream']).toBe(false);
  });

  it.each([
    ['limits.concurrency', { kind: 'concurrency' }, { inFlight: 5, queued: 6 }, /Waiting must not be more/],
    ['limits.requests', { kind: 'requests' }, { perSecond: 0, burst: 1 }, /above 0/],
    ['limits.requests', { kind: 'requests' }, { perSecond: 1, burst: 1.5 }, /whole number/],
    ['limits.tokens', { kind: 'tokens' }, { perMinute: undefined }, /at least 1/],
    ['retries.maxAttempts', { kind: 'number', unit: 'tries', min: 1, max: 3 }, 4, /from 1 to 3/],
    ['retries.maxAttempts', { kind: 'number', unit: 'tries', min: 1, max: 3 }, null, /whole number/],
    [
      'limits.quotas',
      { kind: 'quotas' },
      [
        { id: 'a', limit: 1 },
        { id: 'a', limit: 1 },
      ],
      /same name/,
    ],
    ['limits.quotas', { kind: 'quotas' }, [{ id: 'a', limit: NaN }], /whole number/],
    ['routing.chain', { kind: 'chain' }, [{ provider: '' }], /Name at least one/],
    ['routing.budgetDowngrade', { kind: 'downgrade' }, { atPercent: 101, model: 'x' }, /from 1 to 100/],
  ] as const)('%s: an impossible value is told before it is sent', (_path, control, value, words) => {
    expect(faultOf(control, value)).toMatch(words);
  });
});
