import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { OperatorState } from '@sluice/contracts';
import { ApiError } from '../api/call.ts';
import { type OperatorApi } from '../api/operator-api.ts';

export interface LiveState {
  readonly picture: OperatorState | undefined;
  /** Why the picture stands still; undefined while it moves. */
  readonly lost: string | undefined;
}

/** Without a picture for this long it is said to stand still. */
const SILENT_MS = 3_500;

/** The live picture: asked once, then pushed each second. */
export function useLiveState(api: OperatorApi): LiveState {
  const queries = useQueryClient();
  const first = useQuery({ queryKey: ['state'], queryFn: api.state });
  const [lost, setLost] = useState(false);
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    let timer = setTimeout(() => setSilent(true), SILENT_MS);
    const stop = api.watch(
      (state) => {
        clearTimeout(timer);
        timer = setTimeout(() => setSilent(true), SILENT_MS);
        setSilent(false);
        setLost(false);
        queries.setQueryData(['state'], state);
      },
      () => {
        setLost(true);
        // The stream does not tell why: a session that is over answers 401 here.
        api.session().catch((error: unknown) => {
          if (error instanceof ApiError && error.status === 401) void queries.resetQueries({ queryKey: ['session'] });
        });
      },
    );
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [api, queries]);
  const why = first.isError
    ? first.error.message
    : lost
      ? 'The live stream is broken; it is opened again by itself.'
      : silent
        ? 'Nothing has come for some seconds.'
        : undefined;
  return {
    picture: first.data,
    lost: lost || silent || (first.isError && first.data === undefined) ? (why ?? '') : undefined,
  };
}
