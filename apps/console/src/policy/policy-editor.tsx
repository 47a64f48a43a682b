import { useEffect, useReducer, useRef, useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PolicyConflict, PolicyView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { ApiError } from '../api/http.ts';
import { FormFault } from '../parts/field.tsx';
import { Panel } from '../parts/page.tsx';
import { rolesWith } from '../shell/permission-words.ts';
import { faultOf } from './check-value.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { edits, editablePaths, editorReducer, startEditing, undecided } from './editor-state.ts';
import { FieldRow } from './field-row.tsx';
import { overrideFrom } from './override-fields.ts';
import { FIELD_GROUPS, FIELD_PATHS, FIELDS } from './policy-fields.ts';
import './policy.css';

/**
 * Edits a copy of the policy that began from one version. A newer version, seen while editing or met when saving,
 * is merged field by field: what only one side changed is taken, and for what both changed the person decides.
 */
export function PolicyEditor({ slug, latest }: { slug: string; latest: PolicyView }) {
  const queryClient = useQueryClient();
  const [state, dispatch] = useReducer(editorReducer, latest, startEditing);
  const [tried, setTried] = useState(false);
  const changed = edits(state);
  const editing = changed.length > 0 || state.merge !== undefined;
  const open = undecided(state);
  const faulty = FIELD_PATHS.filter((path) => wrongWith(path, state.draft[path]) !== undefined);
  const mayEdit = editablePaths(state.base).size > 0;
  const merging = state.merge !== undefined;
  const conflictBox = useRef<HTMLElement>(null);

  const save = useMutation({
    mutationFn: () => consoleApi.savePolicy(slug, overrideFrom(state.draft), state.base.version),
    onSuccess: (view) => {
      queryClient.setQueryData(['policy', slug], view);
      setTried(false);
      dispatch({ type: 'saved', view });
    },
    onError: (error) => {
      const conflict = conflictIn(error);
      if (conflict === undefined) return;
      queryClient.setQueryData(['policy', slug], conflict.current);
      dispatch({ type: 'meet', current: conflict.current, before: conflict.base?.override });
    },
  });

  // Nobody loses anything by following a newer version while nothing was edited.
  const overtaken = latest.version > state.base.version;
  useEffect(() => {
    if (overtaken && !editing) dispatch({ type: 'saved', view: latest });
  }, [overtaken, editing, latest]);
  useEffect(() => {
    if (merging) conflictBox.current?.focus();
  }, [merging, state.base.version]);

  function submit(): void {
    setTried(true);
    if (faulty.length === 0 && open.length === 0) save.mutate();
  }

  const error = conflictIn(save.error) === undefined ? save.error : null;
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {!mayEdit && (
        <p className="notice">
          You can see the policy but not change it: that needs the permission <code>policy:write</code> (
          {rolesWith('policy:write')}).
        </p>
      )}
      {overtaken && editing && (
        <p className="notice warn failure" role="status">
          <span>Somebody saved a newer version of this policy while you were editing.</span>
          <button type="button" onClick={() => dispatch({ type: 'meet', current: latest })}>
            Bring both together
          </button>
        </p>
      )}
      {state.merge !== undefined && (
        <ConflictPanel
          ref={conflictBox}
          merge={state.merge}
          onDecide={(path, side) => dispatch({ type: 'decide', path, side })}
        />
      )}
      {FIELD_GROUPS.map((group) => (
        <Panel key={group.title} title={group.title} note={group.note}>
          <div className="policy-rows">
            {group.fields.map((field) => {
              const rule = state.base.fields.find(({ path }) => path === field.path);
              if (rule === undefined) return null;
              return (
                <FieldRow
                  key={field.path}
                  field={field}
                  rule={rule}
                  view={state.base}
                  own={state.draft[field.path]}
                  changed={changed.includes(field.path)}
                  fault={
                    tried || changed.includes(field.path) ? wrongWith(field.path, state.draft[field.path]) : undefined
                  }
                  error={error}
                  onChange={(value) => dispatch({ type: 'edit', path: field.path, value })}
                />
              );
            })}
          </div>
        </Panel>
      ))}
      {mayEdit && (
        <div className="save-bar">
          <FormFault error={error} paths={FIELD_PATHS} />
          <div className="actions">
            <button className="primary" disabled={!editing || save.isPending || open.length > 0}>
              {save.isPending ? 'Saving …' : 'Save'}
            </button>
            {editing && (
              <button type="button" disabled={save.isPending} onClick={() => dispatch({ type: 'discard' })}>
                Discard changes
              </button>
            )}
            <span className="muted" role="status">
              {stateInWords(changed.length, open.length, tried ? faulty.length : 0, save.isSuccess && !editing)}
            </span>
          </div>
        </div>
      )}
    </form>
  );
}

function wrongWith(path: string, value: unknown): string | undefined {
  const field = FIELDS.get(path);
  return field === undefined ? undefined : faultOf(field.control, value);
}

function stateInWords(changed: number, open: number, faulty: number, saved: boolean): string {
  if (open > 0)
    return open === 1
      ? 'One field needs your decision before you can save.'
      : `${open} fields need your decision before you can save.`;
  if (faulty > 0)
    return faulty === 1 ? 'One field cannot be saved as it is.' : `${faulty} fields cannot be saved as they are.`;
  if (changed > 0) return changed === 1 ? 'One field changed.' : `${changed} fields changed.`;
  return saved ? 'Saved. It is in force within a second.' : 'Nothing changed.';
}

/** What the backend sends when somebody else saved first. */
function conflictIn(error: Error | null): PolicyConflict | undefined {
  return error instanceof ApiError &&
    error.status === 412 &&
    typeof error.body === 'object' &&
    error.body !== null &&
    'current' in error.body
    ? (error.body as PolicyConflict)
    : undefined;
}
