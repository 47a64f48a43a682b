import type { Level, LevelRef, LimitScope } from '@sluice/contracts';
import type { LevelState, PendingWindow, QuotaState } from './level-state.ts';

/** A scope with its counters looked up. */
export interface CompiledScope<L extends LevelState> {
  readonly levels: readonly L[];
  windows: readonly QuotaState[];
  /** The generation of the store's limits that this was checked against. */
  generation: number;
}

export interface Scopes<L extends LevelState> {
  /** Every level that was ever named. */
  states(): Iterable<L>;
  find(ref: LevelRef): L | undefined;
  /** The counters of a scope, with its limits in force where another version's were. */
  compile(scope: LimitScope): CompiledScope<L>;
}

export interface ScopesDeps<L extends LevelState> {
  create(level: Level, id: string, tenantId: string): L;
  now(): number;
  monotonic(): number;
  readonly pending: PendingWindow;
}

/** Every window of these levels, in an array that has room for no more. */
function windowsOf(levels: readonly LevelState[]): readonly QuotaState[] {
  const [only, ...more] = levels.filter(({ windows }) => windows.length > 0);
  if (only === undefined) return NONE;
  return more.length === 0 ? only.windows : only.windows.concat(...more.map(({ windows }) => windows));
}

const NONE: readonly never[] = [];

/** Finds the counters of scopes. They belong to (level, id): another version of a scope goes on with the same ones. */
export function createScopes<L extends LevelState>({ create, now, monotonic, pending }: ScopesDeps<L>): Scopes<L> {
  const states = {
    tenant: new Map<string, L>(),
    workspace: new Map<string, L>(),
    key: new Map<string, L>(),
  } satisfies Record<Level, Map<string, L>>;
  const known = new WeakMap<LimitScope, CompiledScope<L>>();
  let generation = 0;

  const stateOf = (level: Level, id: string, tenantId: string): L => {
    const ofLevel = states[level];
    let state = ofLevel.get(id);
    if (state === undefined) ofLevel.set(id, (state = create(level, id, tenantId)));
    return state;
  };

  const refresh = (scope: LimitScope, compiled: CompiledScope<L>): void => {
    for (let i = 0; i < scope.levels.length; i++) {
      const limits = scope.levels[i]?.limits;
      const state = compiled.levels[i];
      if (limits === undefined || state === undefined) continue;
      if (state.apply(limits, scope.timeZone, now(), monotonic(), pending)) generation++;
    }
    compiled.windows = windowsOf(compiled.levels);
    compiled.generation = generation;
  };

  return {
    *states() {
      for (const ofLevel of Object.values(states)) yield* ofLevel.values();
    },
    find: ({ level, id }) => states[level].get(id),
    compile(scope) {
      let compiled = known.get(scope);
      if (compiled === undefined) {
        compiled = {
          levels: scope.levels.map(({ level, id }) => stateOf(level, id, scope.tenantId)),
          windows: [],
          generation: -1,
        };
        known.set(scope, compiled);
      }
      if (compiled.generation !== generation) refresh(scope, compiled);
      return compiled;
    },
  };
}
