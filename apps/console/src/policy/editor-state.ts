import type { PolicyConflict, PolicyView } from '@sluice/contracts';
import { changedPaths, mergeEdits, type Conflict, type Fields } from './merge-edits.ts';
import { fieldsOf } from './override-fields.ts';

/** What is being edited: the version it began from, and what the person made of it. */
export interface EditorState {
  readonly base: PolicyView;
  readonly draft: Fields;
  /** Set while versions are brought together. */
  readonly merge: MergeState | undefined;
}

export interface MergeState {
  readonly conflicts: readonly Conflict[];
  /** Which side holds, by path; a conflict without an entry is undecided. */
  readonly decided: Readonly<Record<string, 'mine' | 'theirs'>>;
  readonly taken: readonly string[];
}

export type EditorAction =
  | { readonly type: 'edit'; readonly path: string; readonly value: unknown }
  /** A version that somebody else saved; `before` is what both began from, when the backend still knows it. */
  | {
      readonly type: 'meet';
      readonly current: PolicyView;
      readonly before?: NonNullable<PolicyConflict['base']>['override'] | undefined;
    }
  | { readonly type: 'decide'; readonly path: string; readonly side: 'mine' | 'theirs' }
  | { readonly type: 'saved'; readonly view: PolicyView }
  | { readonly type: 'discard' };

export function editablePaths(view: PolicyView): ReadonlySet<string> {
  return new Set(view.fields.flatMap(({ path, editable }) => (editable ? [path] : [])));
}

export function startEditing(view: PolicyView): EditorState {
  return { base: view, draft: fieldsOf(view.override, editablePaths(view)), merge: undefined };
}

/** Paths that the person changed since the version that the editor stands on. */
export function edits({ base, draft }: EditorState): string[] {
  return changedPaths(fieldsOf(base.override, editablePaths(base)), draft);
}

export const undecided = ({ merge }: EditorState): readonly Conflict[] =>
  merge?.conflicts.filter(({ path }) => merge.decided[path] === undefined) ?? [];

export function editorReducer(state: EditorState, action: EditorAction): EditorState {
  switch (action.type) {
    case 'edit':
      return { ...state, draft: { ...state.draft, [action.path]: action.value } };
    case 'meet': {
      if (action.current.version === state.base.version) return state;
      const chosen = editablePaths(action.current);
      const { merged, conflicts, taken } = mergeEdits(
        fieldsOf(action.before ?? state.base.override, chosen),
        state.draft,
        fieldsOf(action.current.override, chosen),
      );
      const merge = conflicts.length === 0 && taken.length === 0 ? undefined : { conflicts, decided: {}, taken };
      return { base: action.current, draft: merged, merge };
    }
    case 'decide': {
      const conflict = state.merge?.conflicts.find(({ path }) => path === action.path);
      if (state.merge === undefined || conflict === undefined) return state;
      return {
        ...state,
        draft: { ...state.draft, [action.path]: conflict[action.side] },
        merge: { ...state.merge, decided: { ...state.merge.decided, [action.path]: action.side } },
      };
    }
    case 'saved':
      return startEditing(action.view);
    case 'discard':
      return startEditing(state.base);
  }
}
