import { useQuery } from '@tanstack/react-query';
import { useId, useState, type FormEvent } from 'react';
import type { KillSwitch, OperatorState } from '@sluice/contracts';
import { ApiError, type OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { ConflictNotice } from '../edit/conflict-notice.tsx';
import { showDocument } from '../edit/parse-document.ts';
import { Problem } from '../edit/problem.tsx';
import { useVersionedSave } from '../edit/use-versioned-save.ts';

const SCOPES = ['provider', 'model', 'workspace', 'feature', 'all'] as const satisfies readonly KillSwitch['scope'][];

export interface KillSwitchFormProps {
  readonly api: OperatorApi;
  readonly picture: OperatorState;
  /** The switch that is changed; a new one when absent. */
  readonly row: Row<KillSwitch> | undefined;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Sets or changes one kill switch. A new one is named after what it stops, so that one thing has one switch. */
export function KillSwitchForm({ api, picture, row, onDone, onCancel }: KillSwitchFormProps) {
  const [base, setBase] = useState(row);
  const [draft, setDraft] = useState({ scope: row?.value.scope ?? ('provider' as const), target: row?.value.target ?? '', message: row?.value.message ?? '', retryAfterSeconds: String(row?.value.retryAfterSeconds ?? 60) });
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models') });
  const targets = useId();
  const id = base?.id ?? idOf(draft);
  const value = valueOf(id, draft);
  const { saving, theirs, forget } = useVersionedSave<KillSwitch>({
    save: async (next, version) => {
      try {
        await api.tables.put('kill-switches', id, next, base === undefined ? 'new' : version);
      } catch (error) {
        if (base === undefined && error instanceof ApiError && error.status === 412) throw new ApiError(409, `There is a switch “${id}” already. Close this and change that one.`);
        throw error;
      }
    },
    reload: () => api.tables.get('kill-switches', id),
    onSaved: onDone,
  });
  const known = { provider: picture.providers.map(({ provider }) => provider), model: (models.data ?? []).map((one) => one.id), workspace: picture.tenants.flatMap(({ workspaces }) => workspaces), feature: [], all: [] }[draft.scope];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    saving.mutate({ value, version: base?.version ?? 0 });
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label={base === undefined ? 'A new kill switch' : `Kill switch ${base.id}`}>
      <div className="limit-fields plain">
        <label>
          What is switched off
          <select value={draft.scope} autoFocus onChange={(event) => setDraft({ ...draft, scope: event.target.value as KillSwitch['scope'], target: '' })}>
            {SCOPES.map((scope) => (
              <option key={scope} value={scope}>
                {scope === 'all' ? 'everything' : `one ${scope}`}
              </option>
            ))}
          </select>
        </label>
        {draft.scope !== 'all' && (
          <label>
            Which {draft.scope}
            <input value={draft.target} onChange={(event) => setDraft({ ...draft, target: event.target.value })} list={targets} required spellCheck={false} />
            <datalist id={targets}>
              {known.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
        )}
        <label>
          Come back after, seconds
          <input value={draft.retryAfterSeconds} inputMode="numeric" required onChange={(event) => setDraft({ ...draft, retryAfterSeconds: event.target.value })} />
        </label>
      </div>
      <label>
        Message to callers
        <input className="wide" value={draft.message} onChange={(event) => setDraft({ ...draft, message: event.target.value })} required maxLength={500} placeholder="What they should know and when to come back" />
      </label>
      {theirs !== undefined && base !== undefined && (
        <ConflictNotice
          began={base.version}
          now={theirs.version}
          theirs={showDocument(theirs.value)}
          mine={showDocument(value)}
          onTheirs={() => {
            setBase({ id, ...theirs });
            setDraft({ scope: theirs.value.scope, target: theirs.value.target ?? '', message: theirs.value.message, retryAfterSeconds: String(theirs.value.retryAfterSeconds) });
            forget();
          }}
          onMine={() => saving.mutate({ value, version: theirs.version })}
        />
      )}
      {theirs === undefined && <Problem error={saving.error} />}
      <div className="inline">
        <button type="submit" className="danger" disabled={saving.isPending || theirs !== undefined}>
          {base === undefined ? 'Switch it off now' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <span className="muted small">In force on every gateway in under a second, until it is cleared here.</span>
      </div>
    </form>
  );
}

type Draft = { readonly scope: KillSwitch['scope']; readonly target: string; readonly message: string; readonly retryAfterSeconds: string };

/** The name of a new switch: what it stops. */
function idOf({ scope, target }: Draft): string {
  return scope === 'all' ? 'all' : `${scope}-${target.trim().toLowerCase().replace(/[^a-z0-9._-]+/g, '-')}`;
}

function valueOf(id: string, { scope, target, message, retryAfterSeconds }: Draft): unknown {
  const seconds = Number(retryAfterSeconds);
  return { id, scope, ...(scope === 'all' ? {} : { target: target.trim() }), message: message.trim(), retryAfterSeconds: Number.isFinite(seconds) ? seconds : retryAfterSeconds };
}
