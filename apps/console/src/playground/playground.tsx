import { useState, type FormEvent, type KeyboardEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { ModelsView, PlaygroundRequest } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Field } from '../parts/field.tsx';
import { Loaded } from '../parts/load-state.tsx';
import { dollars } from '../parts/money.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import type { PageProps } from '../shell/page-props.ts';
import { Answer } from './answer.tsx';
import { useCall } from './use-call.ts';
import './playground.css';

type Message = PlaygroundRequest['messages'][number];

/** Talks to a model through the gateway, under the limits of the workspace and on its bill. */
export function Playground({ slug }: PageProps) {
  const models = useQuery({ queryKey: ['models', slug], queryFn: () => consoleApi.models(slug), staleTime: 300_000 });
  return (
    <>
      <PageHead title="Playground">
        Calls from here are real: they count against the limits of this workspace and are billed.
      </PageHead>
      <Loaded query={models} rows={6}>
        {(data) =>
          data.rows.length === 0 ? (
            <p className="notice">
              This workspace may not use any model. An admin can allow some under Limits and policy.
            </p>
          ) : (
            <Conversation slug={slug} models={data.rows} />
          )
        }
      </Loaded>
    </>
  );
}

function Conversation({ slug, models }: { slug: string; models: ModelsView['rows'] }) {
  const { state, send, stop } = useCall(slug);
  const [model, setModel] = useState(models[0]?.id ?? '');
  const [system, setSystem] = useState('');
  const [prompt, setPrompt] = useState('');
  const [maxTokens, setMaxTokens] = useState('');
  const [temperature, setTemperature] = useState('');
  const [feature, setFeature] = useState('');
  const [before, setBefore] = useState<readonly Message[]>([]);
  const [asked, setAsked] = useState<string>();
  const busy = state.phase === 'waiting' || state.phase === 'streaming';
  const chosen = models.find(({ id }) => id === model);

  function ask(question: string, history: readonly Message[]): void {
    setBefore(history);
    setAsked(question);
    send({
      model,
      messages: [
        ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
        ...history,
        { role: 'user', content: question },
      ],
      ...(maxTokens === '' ? {} : { max_tokens: Number(maxTokens) }),
      ...(temperature === '' ? {} : { temperature: Number(temperature) }),
      ...(feature === '' ? {} : { feature }),
    });
  }

  function submit(event?: FormEvent): void {
    event?.preventDefault();
    if (busy || prompt.trim() === '') return;
    const answered = asked !== undefined && 'text' in state && state.text !== '';
    ask(
      prompt,
      answered ? [...before, { role: 'user', content: asked }, { role: 'assistant', content: state.text }] : before,
    );
    setPrompt('');
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit();
  }

  return (
    <div className="playground">
      <Panel title="Call">
        <div className="stack">
          <Field label="Model" hint={chosen && priceOf(chosen)}>
            {(props) => (
              <select {...props} value={model} onChange={(e) => setModel(e.target.value)}>
                {models.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Instructions" hint="Sent before the conversation. May stay empty.">
            {(props) => <textarea {...props} rows={3} value={system} onChange={(e) => setSystem(e.target.value)} />}
          </Field>
          <Field
            label="Longest answer"
            hint={
              chosen &&
              `In tokens, at most ${chosen.max_output_tokens.toLocaleString('en-US')}. The model decides when empty.`
            }
          >
            {(props) => (
              <input
                {...props}
                type="number"
                min={1}
                max={chosen?.max_output_tokens}
                value={maxTokens}
                onChange={(e) => setMaxTokens(e.target.value)}
              />
            )}
          </Field>
          <Field label="Temperature" hint="0 for the likeliest words, up to 2 for surprising ones.">
            {(props) => (
              <input
                {...props}
                type="number"
                min={0}
                max={2}
                step={0.1}
                value={temperature}
                onChange={(e) => setTemperature(e.target.value)}
              />
            )}
          </Field>
          <Field label="Feature" hint="The name under which usage is counted. May stay empty.">
            {(props) => (
              <input {...props} maxLength={128} value={feature} onChange={(e) => setFeature(e.target.value)} />
            )}
          </Field>
        </div>
      </Panel>
      <Panel
        title="Conversation"
        actions={
          asked !== undefined &&
          !busy && (
            <button
              type="button"
              onClick={() => {
                setBefore([]);
                setAsked(undefined);
              }}
            >
              Start anew
            </button>
          )
        }
      >
        <div className="stack">
          <div className="turns" aria-live="off">
            {before.map((message, index) => (
              <Turn key={index} role={message.role}>
                {message.content}
              </Turn>
            ))}
            {asked !== undefined && <Turn role="user">{asked}</Turn>}
            {asked !== undefined && <Answer slug={slug} state={state} onAgain={() => ask(asked, before)} />}
          </div>
          <form className="stack" onSubmit={submit}>
            <Field label="Your message" hint="Ctrl or ⌘ with Enter sends it.">
              {(props) => (
                <textarea
                  {...props}
                  rows={4}
                  value={prompt}
                  onChange={(e) => setPrompt(e.target.value)}
                  onKeyDown={onKeyDown}
                />
              )}
            </Field>
            <div className="actions">
              {busy ? (
                <button type="button" className="danger" onClick={stop}>
                  Stop
                </button>
              ) : (
                <button className="primary" disabled={prompt.trim() === ''}>
                  Send
                </button>
              )}
            </div>
          </form>
        </div>
      </Panel>
    </div>
  );
}

function Turn({ role, children }: { role: string; children: string }) {
  return (
    <div className={`turn ${role}`}>
      <p className="turn-who muted">{role === 'user' ? 'You' : 'Model'}</p>
      <p className="turn-text">{children}</p>
    </div>
  );
}

function priceOf({ price }: ModelsView['rows'][number]): string | undefined {
  return price === null
    ? undefined
    : `${dollars(price.input_picousd * 1000)} a million input tokens, ${dollars(price.output_picousd * 1000)} a million output tokens.`;
}
