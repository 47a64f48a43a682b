import { useState } from 'react';
import { ApiError, type Versioned } from '../api/call.ts';
import type { ConflictNoticeProps } from './conflict-notice.tsx';
import { showDocument } from './parse-document.ts';
import { useVersionedSave } from './use-versioned-save.ts';

export interface RowEditProps<T, D> {
  /** The row that is changed; a new one when absent. */
  readonly row: Versioned<T> | undefined;
  readonly draftOf: (value: T | undefined) => D;
  /** What is sent of a draft. */
  readonly valueOf: (draft: D) => unknown;
  /** What a conflict shows of a draft, where it is not all that is sent: passwords are not. */
  readonly shownOf?: (draft: D) => unknown;
  readonly save: (value: unknown, version: number | 'new') => Promise<void>;
  readonly reload: () => Promise<Versioned<T>>;
  readonly onSaved: (draft: D) => void;
  /**
   * The draft holds all that a row is: a version in which nothing of it differs is nobody's change, and is saved
   * over.
   */
  readonly whole?: boolean;
  /** Said when a new row's name is taken. */
  readonly taken: (draft: D) => string;
}

/** A row that is being edited, as its form needs it. */
export interface RowEdit<D> {
  readonly draft: D;
  readonly change: (draft: D) => void;
  readonly isNew: boolean;
  readonly submit: () => void;
  readonly busy: boolean;
  readonly error: Error | null;
  /** Set when somebody else was faster. */
  readonly conflict: ConflictNoticeProps | undefined;
}

/** Edits a row under its version, or makes one that must not be there yet. */
export function useRowEdit<T, D>({
  row,
  draftOf,
  valueOf,
  shownOf = valueOf,
  save,
  reload,
  onSaved,
  whole = false,
  taken,
}: RowEditProps<T, D>): RowEdit<D> {
  const [base, setBase] = useState(row);
  const [draft, change] = useState(() => draftOf(row?.value));
  const readAgain = async (): Promise<Versioned<T>> => {
    try {
      return await reload();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        throw new ApiError(404, 'It was deleted while you changed it. Nothing of yours was saved.');
      throw error;
    }
  };
  const { saving, theirs, forget } = useVersionedSave<T>({
    save: async (value, version) => {
      try {
        await save(value, base === undefined ? 'new' : version);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        if (base === undefined) throw new ApiError(409, taken(draft));
        const now = whole ? await readAgain() : undefined;
        if (
          now === undefined ||
          now.version === version ||
          showDocument(draftOf(now.value)) !== showDocument(draftOf(base.value))
        )
          throw error;
        await save(value, now.version);
      }
    },
    reload: readAgain,
    onSaved: () => onSaved(draft),
  });
  const saveAt = (version: number): void => saving.mutate({ value: valueOf(draft), version });
  return {
    draft,
    change,
    isNew: base === undefined,
    submit: () => saveAt(base?.version ?? 0),
    busy: saving.isPending,
    error: saving.error,
    conflict:
      theirs === undefined || base === undefined
        ? undefined
        : {
            began: base.version,
            now: theirs.version,
            theirs: showDocument(shownOf(draftOf(theirs.value))),
            mine: showDocument(shownOf(draft)),
            onTheirs: () => {
              setBase(theirs);
              change(draftOf(theirs.value));
              forget();
            },
            onMine: () => saveAt(theirs.version),
          },
  };
}
