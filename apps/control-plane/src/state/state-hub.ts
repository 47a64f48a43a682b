import type { Response } from 'express';
import type { OperatorState } from '@sluice/contracts';
import { sseStream, type SseStream } from '@sluice/service-kit';

/** Gives the same picture to every console that watches, built once. */
export interface StateHub {
  serve(res: Response): void;
  /** Builds and sends the picture when anybody watches; called each second. */
  beat(): void;
  readonly watching: number;
  close(): void;
}

export function createStateHub(deps: { build: () => OperatorState }): StateHub {
  const watchers = new Set<SseStream>();
  return {
    serve: (res) => {
      const sse = sseStream(res);
      watchers.add(sse);
      sse.onClose(() => watchers.delete(sse));
      sse.send('state', deps.build());
    },
    beat: () => {
      if (watchers.size === 0) return;
      const json = JSON.stringify(deps.build());
      for (const watcher of watchers) watcher.sendJson('state', json);
    },
    get watching() {
      return watchers.size;
    },
    close: () => {
      for (const watcher of [...watchers]) watcher.close();
    },
  };
}
