import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { KeysView, NewKeyView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Instant } from '../parts/instant.tsx';
import { Empty, Loaded } from '../parts/load-state.tsx';
import { OnceSecret } from '../parts/once-secret.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { limitsInWords } from '../overview/limits-in-words.ts';
import type { PageProps } from '../shell/page-props.ts';
import { NewKeyForm } from './new-key-form.tsx';
import { replacementOf } from './replacement.ts';

type Key = KeysView['rows'][number];
/** A key just made; `replaces` when it takes the place of an older one. */
interface Made {
  readonly view: NewKeyView;
  readonly replaces?: Key;
}

/** The API keys of a workspace: make one, see it once, replace one, revoke one. */
export function Keys({ slug }: PageProps) {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<Made>();
  const keys = useQuery({ queryKey: ['keys', slug], queryFn: () => consoleApi.keys(slug) });
  const reload = () => queryClient.invalidateQueries({ queryKey: ['keys', slug] });
  function show(next: Made): void {
    setMade(next);
    void reload();
  }
  return (
    <>
      <PageHead title="API keys">
        A program that holds a key can call models in the name of this workspace, under its limits and on its bill.
      </PageHead>
      {made !== undefined && (
        <OnceSecret
          title={`The key “${made.view.name}” is ready`}
          secret={made.view.key}
          onDone={() => setMade(undefined)}
        >
          {made.replaces !== undefined && (
            <p>
              The old key <code>{made.replaces.key_id}</code> still works. Put the new one in its place everywhere, then
              revoke the old one in the list below.
            </p>
          )}
        </OnceSecret>
      )}
      <Panel title="New key">
        <NewKeyForm slug={slug} onMade={(view) => show({ view })} />
      </Panel>
      <Panel title="Keys">
        <Loaded query={keys}>
          {(data) =>
            data.rows.length === 0 ? (
              <Empty title="No keys yet">Make the first one above.</Empty>
            ) : (
              <KeyTable slug={slug} rows={data.rows} onMade={show} onRevoked={reload} />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function KeyTable({
  slug,
  rows,
  onMade,
  onRevoked,
}: {
  slug: string;
  rows: readonly Key[];
  onMade: (made: Made) => void;
  onRevoked: () => Promise<void>;
}) {
  return (
    <div className="scroll-x">
      <table className="cards">
        <thead>
          <tr>
            <th>Name</th>
            <th>Made</th>
            <th>Expires</th>
            <th>May use</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key_id}>
              <td>
                <strong className="break">{row.name}</strong>{' '}
                <div>
                  <code className="muted">{row.key_id}</code>
                </div>
              </td>
              <td data-label="Made">
                <Instant at={row.created_at} dayOnly />
              </td>
              <td data-label="Expires">
                {row.expires_at === null ? 'never' : <Instant at={row.expires_at} dayOnly />}{' '}
                {row.expired && <Badge tone="bad">expired</Badge>}
              </td>
              <td data-label="May use">
                <div>{row.allow_models === null ? 'every model' : row.allow_models.join(', ')}</div>
                {row.allow_addresses !== null && <div className="muted">from {row.allow_addresses.join(', ')}</div>}
                {row.limits !== null && <div className="muted">{limitsInWords(row.limits).join('; ')}</div>}
              </td>
              <td className="row-actions">
                {row.limits === null && (
                  <Confirm
                    verb="Replace"
                    name={`Replace ${row.name}`}
                    warning="Makes a new key that may do the same. This one works until you revoke it."
                    confirm="Make the new key"
                    keep="Not now"
                    plain
                    act={async () =>
                      onMade({ view: await consoleApi.createKey(slug, replacementOf(row, Date.now())), replaces: row })
                    }
                  />
                )}
                <Confirm
                  verb="Revoke"
                  name={`Revoke ${row.name}`}
                  warning="Its calls will be refused within a second. This cannot be undone."
                  confirm="Revoke for good"
                  act={async () => {
                    await consoleApi.revokeKey(slug, row.key_id);
                    await onRevoked();
                  }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
