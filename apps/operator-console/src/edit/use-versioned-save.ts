import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, type Versioned } from '../api/call.ts';

export interface VersionedSave<T> {
  readonly saving: UseMutationResult<void, Error, { value: unknown; version: number }>;
  /** Set when somebody else was faster: what is there now. */
  readonly theirs: Versioned<T> | undefined;
  /** Drops the conflict and the error. */
  readonly forget: () => void;
}

/** Saves what a small form has made of a row under the row's version. */
export function useVersionedSave<T>(props: {
  save: (value: unknown, version: number) => Promise<void>;
  reload: () => Promise<Versioned<T>>;
  onSaved: () => void;
}): VersionedSave<T> {
  const [theirs, setTheirs] = useState<Versioned<T>>();
  const saving = useMutation({
    mutationFn: async ({ value, version }: { value: unknown; version: number }) => {
      try {
        await props.save(value, version);
      } catch (error) {
        if (error instanceof ApiError && error.status === 412) setTheirs(await props.reload());
        throw error;
      }
    },
    onSuccess: () => {
      setTheirs(undefined);
      props.onSaved();
    },
  });
  return {
    saving,
    theirs,
    forget: () => {
      setTheirs(undefined);
      saving.reset();
    },
  };
}
