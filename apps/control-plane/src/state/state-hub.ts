import type { Response } from 'express';
import type { OperatorState } from '@sluice/contracts';
import { sseStream, type SseStream } from '@sluice/service-kit';

/** Gives the same picture to every console that watches, built once. */
export interface StateHub {
  /** Streams for as long as `mayWatch` says so, which is asked before every picture. */
  serve(res: Response, mayWatch: () => Promise<boolean>): void;
  /** Builds and sends the picture when anybody watches; called each second. */
  beat(): void;
  readonly watching: number;
  close(): void;
}

export function createStateHub(deps: { build: () => OperatorState }): StateHub {
  const watchers = new Map<SseStream, () => Promise<boolean>>();
  return {
    serve: (res, mayWatch) => {
      const sse = sseStream(res);
      watchers.set(sse, mayWatch);
      sse.onClose(() => watchers.delete(sse));
      sse.send('state', deps.build());
    },
    beat: () => {
      if (watchers.size === 0) return;
      const json = JSON.stringify(deps.build());
      for (const [watcher, mayWatch] of watchers) {
        mayWatch().then(
          (may) => (may ? watcher.sendJson('state', json) : watcher.close()),
          () => watcher.close(),
        );
      }
    },
    get watching() {
      return watchers.size;
    },
    close: () => {
      for (const watcher of [...watchers.keys()]) watcher.close();
    },
  };
}
