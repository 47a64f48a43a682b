import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge, formatCount } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';
import { ProviderForm } from './provider-form.tsx';

/** The services that serve calls, each with its accounts; made here. */
export function ProvidersPage({ api }: { api: OperatorApi }) {
  const providers = useQuery({ queryKey: ['providers'], queryFn: () => api.tables.list('providers'), staleTime: 0 });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  return (
    <ListPanel
      id="providers"
      title="Providers"
      hint="the services that serve calls, and our accounts there"
      button={
        <button
          type="button"
          className="primary"
          disabled={refusal !== undefined || making}
          title={refusal}
          onClick={() => setMaking(true)}
        >
          New provider
        </button>
      }
      problem={providers.error}
      rows={providers.data}
      keyOf={({ id }) => id}
      empty="There is no provider yet, so nothing can be served. Add the first with “New provider”: its address, and where its key is."
      columns={[
        {
          head: 'provider',
          cell: ({ id, value }) => (
            <>
              <Link to={`/providers/${encodeURIComponent(id)}`}>{value.displayName}</Link>{' '}
              {!value.enabled && <Badge tone="warn">switched off</Badge>}
              <span className="muted small block">{id}</span>
            </>
          ),
        },
        { head: 'speaks', cell: ({ value }) => value.dialect },
        { head: 'address', cell: ({ value }) => <code className="nowrap">{value.baseUrl}</code> },
        { head: 'region', cell: ({ value }) => value.region },
        { head: 'accounts', cell: ({ value }) => value.credentials.map(({ id }) => id).join(', ') },
        {
          head: 'calls at once',
          figures: 'right',
          cell: ({ value }) => formatCount(value.credentials.reduce((sum, { slots }) => sum + slots, 0)),
        },
      ]}
    >
      {making && (
        <ProviderForm
          api={api}
          row={undefined}
          onDone={(id) => go(`/providers/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
    </ListPanel>
  );
}
