/** Weight of a new call in the averages of its model. */
const ALPHA = 0.02;

interface Average {
  n: number;
  latencyMs: number;
  outputTokens: number;
  costNanoUsd: number;
}

export interface ModelAverages {
  readonly n: number;
  readonly latencyMs: number;
  readonly outputTokens: number;
  /** What customers were billed. */
  readonly costNanoUsd: number;
}

/** What calls of each model came to on average, the newest counting most. */
export interface CallAverages {
  add(
    model: string,
    call: { readonly latencyMs: number; readonly outputTokens: number; readonly costNanoUsd: number },
  ): void;
  of(model: string): ModelAverages | undefined;
  /** Goes on where others stood. */
  restore(saved: readonly (readonly [string, ModelAverages])[]): void;
  readonly state: readonly (readonly [string, ModelAverages])[];
}

/** @param max models at most; later ones are not averaged. */
export function createCallAverages(max = 1_000): CallAverages {
  const averages = new Map<string, Average>();
  return {
    add: (model, call) => {
      const before = averages.get(model);
      if (before === undefined) {
        if (averages.size < max) averages.set(model, { n: 1, ...call });
        return;
      }
      before.n += 1;
      const weight = Math.max(ALPHA, 1 / before.n);
      before.latencyMs += weight * (call.latencyMs - before.latencyMs);
      before.outputTokens += weight * (call.outputTokens - before.outputTokens);
      before.costNanoUsd += weight * (call.costNanoUsd - before.costNanoUsd);
    },
    of: (model) => averages.get(model),
    restore: (saved) => {
      for (const [model, average] of saved) averages.set(model, { ...average });
    },
    get state() {
      return [...averages].map(([model, average]) => [model, { ...average }] as const);
    },
  };
}
