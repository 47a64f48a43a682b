import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import { go } from '../routing/location.tsx';
import { RequestTable } from './request-table.tsx';

/** Outcomes that a row of the ledger can have. */
const OUTCOMES = [
  'ok',
  'upstream_error',
  'timeout',
  'cancelled',
  'interrupted',
  'client_error',
  'internal_error',
] as const;
const PAGE = 50;

/** Calls of the ledger, newest first; one is found by its id. */
export function RequestsPage({
  api,
  picture,
  tenant,
  outcome,
}: {
  api: OperatorApi;
  picture: OperatorState;
  tenant: string | undefined;
  outcome: string | undefined;
}) {
  const [id, setId] = useState('');
  const rows = useInfiniteQuery({
    queryKey: ['ledger', 'pages', tenant, outcome],
    queryFn: ({ pageParam }) =>
      api.ledger({
        limit: PAGE,
        ...(tenant === undefined ? {} : { tenant }),
        ...(outcome === undefined ? {} : { outcome }),
        ...(pageParam === '' ? {} : { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  });
  const filter = (next: { tenant?: string | undefined; outcome?: string | undefined }): void => {
    const query = new URLSearchParams(
      Object.entries({ tenant, outcome, ...next }).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, value]],
      ),
    );
    go(`/requests${query.size === 0 ? '' : `?${query}`}`);
  };
  const find = (event: FormEvent): void => {
    event.preventDefault();
    if (id.trim() !== '') go(`/requests/${encodeURIComponent(id.trim())}`);
  };
  return (
    <section className="panel" aria-labelledby="requests">
      <div className="section-head">
        <h2 id="requests">Requests</h2>
        <label className="inline">
          <span className="muted">tenant</span>
          <select value={tenant ?? ''} onChange={(event) => filter({ tenant: event.target.value })}>
            <option value="">all</option>
            {picture.tenants.map((one) => (
              <option key={one.tenant} value={one.tenant}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label className="inline">
          <span className="muted">outcome</span>
          <select value={outcome ?? ''} onChange={(event) => filter({ outcome: event.target.value })}>
            <option value="">all</option>
            {OUTCOMES.map((one) => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <span className="grow" />
        <form className="inline" onSubmit={find}>
          <input
            value={id}
            onChange={(event) => setId(event.target.value)}
            placeholder="req_…"
            aria-label="Request id"
            className="mono"
            size={32}
          />
          <button type="submit">Find</button>
          <button type="button" onClick={() => void rows.refetch()}>
            Renew
          </button>
        </form>
      </div>
      <RequestTable rows={rows.data?.pages.flatMap((page) => page.rows)} problem={rows.error?.message} withTenant />
      {rows.hasNextPage && (
        <button type="button" disabled={rows.isFetchingNextPage} onClick={() => void rows.fetchNextPage()}>
          {rows.isFetchingNextPage ? 'One moment…' : `${PAGE} older ones`}
        </button>
      )}
    </section>
  );
}
