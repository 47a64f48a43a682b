import { useState } from 'react';
import type { ProviderInput } from '@sluice/contracts';
import { Badge, formatCount } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRemoval } from '../edit/use-removal.ts';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';
import { ProviderForm } from './provider-form.tsx';

type Account = ProviderInput['credentials'][number];

/** A provider's address and accounts: changed, deleted. Secrets are never shown, only where they are. */
export function Accounts({
  api,
  row,
  onChanged,
}: {
  api: OperatorApi;
  row: Row<ProviderInput>;
  onChanged: () => void;
}) {
  const [open, setOpen] = useState(false);
  const refusal = useRefusal('admin');
  const remove = useRemoval({
    remove: () => api.tables.remove('providers', row.id, row.version),
    reload: onChanged,
    onGone: () => go('/providers'),
  });
  const { displayName, dialect, baseUrl, region, enabled, credentials } = row.value;
  const unlimited = <span className="muted">no limit</span>;
  return (
    <ListPanel<Account>
      id="configuration"
      title={`Configuration of ${row.id}`}
      tools={!enabled && <Badge tone="warn">switched off: no call goes to it</Badge>}
      button={
        <>
          <Link to="/providers">All providers</Link>
          <button
            type="button"
            disabled={refusal !== undefined || open}
            title={refusal}
            aria-label={`Change ${displayName}`}
            onClick={() => setOpen(true)}
          >
            Change
          </button>
          <SureButton verb="Delete" name={displayName} refusal={refusal} disabled={remove.busy} onSure={remove.sure} />
        </>
      }
      problem={remove.error}
      rows={open ? [] : credentials}
      keyOf={({ id }) => id}
      empty={null}
      columns={[
        { head: 'account', cell: ({ id }) => id },
        { head: 'key', cell: keyInWords },
        { head: 'calls at once', figures: 'right', cell: ({ slots }) => formatCount(slots) },
        {
          head: 'requests a minute',
          figures: 'right',
          cell: ({ requestsPerMinute }) =>
            requestsPerMinute === undefined ? unlimited : formatCount(requestsPerMinute),
        },
        {
          head: 'tokens a minute',
          figures: 'right',
          cell: ({ tokensPerMinute }) => (tokensPerMinute === undefined ? unlimited : formatCount(tokensPerMinute)),
        },
        {
          head: 'reserved',
          cell: ({ reserved }) => (reserved === undefined ? 'none' : `${reserved.slots} from ${reserved.priority} up`),
        },
        {
          head: 'for',
          cell: ({ tenants, tiers }) =>
            [tenants?.join(', ') ?? 'every tenant', ...(tiers === undefined ? [] : [`${tiers.join(', ')} only`])].join(
              '; ',
            ),
        },
      ]}
    >
      {open ? (
        <ProviderForm
          api={api}
          row={row}
          onDone={() => {
            setOpen(false);
            onChanged();
          }}
          onCancel={() => setOpen(false)}
        />
      ) : (
        <p>
          {displayName} speaks {dialect} at <code>{baseUrl}</code>, region {region}.
        </p>
      )}
    </ListPanel>
  );
}

function keyInWords({ secret }: Account) {
  switch (secret?.kind) {
    case 'env':
      return <code className="nowrap">{secret.name}</code>;
    case 'file':
      return (
        <>
          file <code className="nowrap">{secret.name}</code>
        </>
      );
    case 'encrypted':
      return 'kept encrypted';
    default:
      return <span className="muted">none</span>;
  }
}
