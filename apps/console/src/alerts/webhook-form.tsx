import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { NewWebhookView, WebhookView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Field, FormFault } from '../parts/field.tsx';
import { ALERT_KINDS, ALERT_WORDS, type AlertKind } from './alert-words.ts';

const CHOOSABLE = ALERT_KINDS.filter((kind) => kind !== 'webhook.test');

/** Makes a webhook, or changes the one given. */
export function WebhookForm({
  slug,
  webhook,
  onSaved,
  onCancel,
}: {
  slug: string;
  webhook?: WebhookView;
  onSaved: (view: WebhookView | NewWebhookView) => void;
  onCancel: () => void;
}) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [all, setAll] = useState((webhook?.kinds ?? null) === null);
  const [kinds, setKinds] = useState<readonly AlertKind[]>(webhook?.kinds ?? []);
  const save = useMutation({
    mutationFn: async (): Promise<WebhookView | NewWebhookView> => {
      const wanted = { url, kinds: all ? null : [...kinds], enabled: webhook?.enabled ?? true };
      return webhook === undefined
        ? consoleApi.createWebhook(slug, wanted)
        : consoleApi.saveWebhook(slug, webhook.webhook_id, wanted);
    },
    onSuccess: onSaved,
  });
  const none = !all && kinds.length === 0;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!none) save.mutate();
  }
  return (
    <form className="stack inset" onSubmit={submit}>
      <Field
        label="Address"
        hint="Reachable from the internet; addresses of private networks are refused."
        error={save.error}
        path="url"
      >
        {(props) => (
          <input
            {...props}
            type="url"
            required
            maxLength={2000}
            placeholder="https://example.com/alerts"
            value={url}
            onChange={(e) => setUrl(e.target.value)}
          />
        )}
      </Field>
      <fieldset>
        <legend>Send</legend>
        <label className="check">
          <input type="radio" name="which" checked={all} onChange={() => setAll(true)} />
          all alerts
        </label>
        <label className="check">
          <input type="radio" name="which" checked={!all} onChange={() => setAll(false)} />
          only these
        </label>
        {!all && (
          <div className="checks">
            {CHOOSABLE.map((kind) => (
              <label key={kind} className="check">
                <input
                  type="checkbox"
                  checked={kinds.includes(kind)}
                  onChange={(e) =>
                    setKinds(e.target.checked ? [...kinds, kind] : kinds.filter((other) => other !== kind))
                  }
                />
                {ALERT_WORDS[kind]}
              </label>
            ))}
          </div>
        )}
        {none && <p className="fault">Choose at least one.</p>}
      </fieldset>
      <FormFault error={save.error} paths={['url']} />
      <div className="actions">
        <button className="primary" disabled={save.isPending || none}>
          {save.isPending ? 'Saving …' : webhook === undefined ? 'Add webhook' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
