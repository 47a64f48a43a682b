import { useEffect, useRef, useState } from 'react';
import type { PlaygroundRequest, PlaygroundUsage } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { readEvents } from './read-events.ts';
import { refusalOf, reportOf, type CallReport, type RefusalReport } from './call-report.ts';

/** What became of the last call, as it goes on. */
export type CallState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'waiting'; readonly sentAtMs: number }
  | {
      readonly phase: 'streaming';
      readonly text: string;
      readonly report: CallReport;
      readonly firstMs: number | undefined;
    }
  | {
      readonly phase: 'done' | 'stopped' | 'broken';
      readonly text: string;
      readonly report: CallReport | undefined;
      readonly firstMs: number | undefined;
      readonly usage: PlaygroundUsage | undefined;
      readonly fault: string | undefined;
      readonly finish: string | undefined;
    }
  | { readonly phase: 'refused'; readonly refusal: RefusalReport; readonly atMs: number };

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly error?: { readonly message?: string };
}

/** One call at a time: `send` starts it, `stop` ends it (the gateway hears of it and bills what was produced). */
export function useCall(slug: string): { state: CallState; send: (call: PlaygroundRequest) => void; stop: () => void } {
  const [state, setState] = useState<CallState>({ phase: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(call: PlaygroundRequest, controller: AbortController): Promise<void> {
    const sentAtMs = Date.now();
    let text = '';
    let report: CallReport | undefined;
    let firstMs: number | undefined;
    let usage: PlaygroundUsage | undefined;
    let finish: string | undefined;
    const end = (phase: 'done' | 'stopped' | 'broken', fault?: string): void =>
      setState({ phase, text, report, firstMs, usage, fault, finish });
    setState({ phase: 'waiting', sentAtMs });
    try {
      const res = await consoleApi.playground(slug, call, controller.signal);
      if (!res.ok || res.body === null) {
        const body: unknown = await res.json().catch(() => undefined);
        setState({ phase: 'refused', refusal: refusalOf(res.status, res.headers, body), atMs: Date.now() });
        return;
      }
      report = reportOf(res.headers);
      let ended = false;
      for await (const { event, data } of readEvents(res.body)) {
        if (data === '[DONE]') {
          ended = true;
          continue;
        }
        const parsed = parse(data);
        if (event === 'usage') {
          usage = parsed as PlaygroundUsage;
          continue;
        }
        const { choices, error } = parsed as Chunk;
        if (error !== undefined) return end('broken', error.message ?? 'The answer broke off.');
        const piece = choices?.[0]?.delta?.content ?? '';
        finish = choices?.[0]?.finish_reason ?? finish;
        if (piece === '') continue;
        firstMs ??= Date.now() - sentAtMs;
        text += piece;
        setState({ phase: 'streaming', text, report, firstMs });
      }
      if (ended) end('done');
      else end('broken', 'The answer broke off before its end.');
    } catch (error) {
      if (controller.signal.aborted) end('stopped');
      else end('broken', error instanceof RangeError ? error.message : 'The connection to the console was lost.');
    }
  }

  return {
    state,
    send(call) {
      running.current?.abort();
      running.current = new AbortController();
      void run(call, running.current);
    },
    stop: () => running.current?.abort(),
  };
}

function parse(data: string): object {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
