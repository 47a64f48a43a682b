import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { ApiError } from '../api/http.ts';
import { Instant } from './instant.tsx';

/** Grey lines where the content will be; told to screen readers once. */
export function Loading({ rows = 4, what = 'Loading' }: { rows?: number; what?: string }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{what}…</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} aria-hidden="true" />
      ))}
    </div>
  );
}

/** Nothing to show, and what would change that. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="muted">{children}</div>}
    </div>
  );
}

/** Why something could not be loaded, in words, with a way to try again. */
export function Failure({
  error,
  onRetry,
  stale,
}: {
  error: Error;
  onRetry?: (() => void) | undefined;
  stale?: number | undefined;
}) {
  const api = error instanceof ApiError ? error : undefined;
  const down = api?.down === true;
  return (
    <div className={`notice ${down ? 'warn' : 'bad'} failure`} role="alert">
      <div>
        <strong>{down ? 'The control plane does not answer.' : 'This could not be loaded.'}</strong>{' '}
        {down ? 'Calls to your models go on, under the last known limits. ' : `${error.message} `}
        {stale !== undefined && (
          <>
            What you see is from <Instant at={new Date(stale).toISOString()} seconds />.
          </>
        )}
        {!down && api?.requestId !== undefined && (
          <span className="muted">
            Request id for support: <code>{api.requestId}</code>
          </span>
        )}
      </div>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

type Query<T> = Pick<UseQueryResult<T>, 'data' | 'error' | 'isPending' | 'dataUpdatedAt' | 'refetch'>;

/** Draws a query: loading, failed, failed with older data still shown, or the data. */
export function Loaded<T>({
  query,
  rows,
  children,
}: {
  query: Query<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  const { data, error } = query;
  const retry = (): void => void query.refetch();
  if (data === undefined)
    return error === null ? (
      <Loading {...(rows === undefined ? {} : { rows })} />
    ) : (
      <Failure error={error} onRetry={retry} />
    );
  return (
    <>
      {error !== null && <Failure error={error} onRetry={retry} stale={query.dataUpdatedAt} />}
      {children(data)}
    </>
  );
}
