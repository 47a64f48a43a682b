import { useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { NewWebhookView, WebhookView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Instant } from '../parts/instant.tsx';
import { Empty, Loaded } from '../parts/load-state.tsx';
import { OnceSecret } from '../parts/once-secret.tsx';
import { Panel } from '../parts/page.tsx';
import { Deliveries, DELIVERY_TONES } from './deliveries.tsx';
import { WebhookForm } from './webhook-form.tsx';

/** Addresses that alerts are sent to: add, test, pause, remove, and see what was sent. */
export function Webhooks({ slug }: { slug: string }) {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<NewWebhookView>();
  const [adding, setAdding] = useState(false);
  const webhooks = useQuery({
    queryKey: ['webhooks', slug],
    queryFn: () => consoleApi.webhooks(slug),
    refetchInterval: 15_000,
  });
  const reload = () => queryClient.invalidateQueries({ queryKey: ['webhooks', slug] });
  return (
    <>
      {made !== undefined && (
        <OnceSecret title="The webhook’s signing secret" secret={made.secret} onDone={() => setMade(undefined)}>
          <p>Check the signature of what you receive with it, so that nobody else can send you alerts.</p>
        </OnceSecret>
      )}
      <Panel
        title="Webhooks"
        note="Each alert is sent as JSON, signed, and sent again when the receiver does not answer with success."
        actions={
          !adding && (
            <button type="button" onClick={() => setAdding(true)}>
              Add a webhook
            </button>
          )
        }
      >
        {adding && (
          <WebhookForm
            slug={slug}
            onCancel={() => setAdding(false)}
            onSaved={(view) => {
              setAdding(false);
              if ('secret' in view) setMade(view);
              void reload();
            }}
          />
        )}
        <Loaded query={webhooks}>
          {(data) =>
            data.rows.length === 0 ? (
              <Empty title="No webhooks">Alerts are shown here only.</Empty>
            ) : (
              <div className="cards-list">
                {data.rows.map((row) => (
                  <Webhook key={row.webhook_id} slug={slug} webhook={row} onChanged={reload} />
                ))}
              </div>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Webhook({ slug, webhook, onChanged }: { slug: string; webhook: WebhookView; onChanged: () => Promise<void> }) {
  const [open, setOpen] = useState<'nothing' | 'form' | 'log'>('nothing');
  const queryClient = useQueryClient();
  const { webhook_id: id, url, kinds, enabled, last_delivery: last } = webhook;
  const test = useMutation({
    mutationFn: () => consoleApi.testWebhook(slug, id),
    onSuccess: async () => {
      setOpen('log');
      await Promise.all([queryClient.invalidateQueries({ queryKey: ['deliveries', slug, id] }), onChanged()]);
    },
  });
  const toggle = useMutation({
    mutationFn: () => consoleApi.saveWebhook(slug, id, { url, kinds, enabled: !enabled }),
    onSuccess: onChanged,
  });
  const failed = test.error ?? toggle.error;
  return (
    <article className="card" aria-label={`Webhook ${url}`}>
      <div className="row">
        <strong className="break grow">{url}</strong>
        {!enabled && <Badge tone="warn">paused</Badge>}
        {last !== null && (
          <span className="muted">
            last: <Badge tone={DELIVERY_TONES[last.state]}>{last.state}</Badge> <Instant at={last.at} />
          </span>
        )}
      </div>
      <p className="muted">
        {kinds === null
          ? 'All alerts.'
          : `${kinds.length === 1 ? 'One kind' : `${kinds.length} kinds`} of alert: ${kinds.join(', ')}.`}
      </p>
      <div className="actions">
        <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? 'Sending …' : 'Send a test'}
        </button>
        <button
          type="button"
          aria-expanded={open === 'log'}
          onClick={() => setOpen(open === 'log' ? 'nothing' : 'log')}
        >
          What was sent
        </button>
        <button
          type="button"
          aria-expanded={open === 'form'}
          onClick={() => setOpen(open === 'form' ? 'nothing' : 'form')}
        >
          Change
        </button>
        <button type="button" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
          {enabled ? 'Pause' : 'Resume'}
        </button>
        <Confirm
          verb="Remove"
          name={`Remove the webhook ${url}`}
          warning="Nothing will be sent there any more, and its secret becomes worthless."
          confirm="Remove it"
          act={async () => {
            await consoleApi.removeWebhook(slug, id);
            await onChanged();
          }}
        />
      </div>
      {failed !== null && (
        <p className="notice bad" role="alert">
          {failed.message}
        </p>
      )}
      {open === 'log' && <Deliveries slug={slug} id={id} />}
      {open === 'form' && (
        <WebhookForm
          slug={slug}
          webhook={webhook}
          onCancel={() => setOpen('nothing')}
          onSaved={() => {
            setOpen('nothing');
            void onChanged();
          }}
        />
      )}
    </article>
  );
}
