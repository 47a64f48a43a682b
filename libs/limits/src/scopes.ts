import type { Level, LevelRef, LimitScope } from '@sluice/contracts';
import type { LevelState, PendingWindow, QuotaState } from './level-state.ts';

/** A scope with its counters looked up. */
export interface CompiledScope<L extends LevelState> {
  levels: readonly L[];
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
  /**
   * Forgets levels that no scope has named for a day and that hold nothing, as those of deleted keys: a level that comes
   * back begins as one that was never there. Looks at a few thousand levels at most.
   *
   * @param holds whether the store itself still needs a level.
   */
  forgetIdle(holds?: (level: L) => boolean): void;
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
/** A level that was not named for so long is idle: by then every bucket is full again. */
const IDLE_MS = 86_400_000;
/** Levels that are looked at in one go. */
const LOOKS = 2_000;

/** Finds the counters of scopes. They belong to (level, id): another version of a scope goes on with the same ones. */
export function createScopes<L extends LevelState>({ create, now, monotonic, pending }: ScopesDeps<L>): Scopes<L> {
  const states = {
    tenant: new Map<string, L>(),
    workspace: new Map<string, L>(),
    key: new Map<string, L>(),
  } satisfies Record<Level, Map<string, L>>;
  const known = new WeakMap<LimitScope, CompiledScope<L>>();
  let generation = 0;

  /** A round over all levels, which goes on where the last look ended. */
  function* everyLevel(): Generator<[Map<string, L>, L]> {
    for (const ofLevel of Object.values(states)) for (const level of ofLevel.values()) yield [ofLevel, level];
  }
  let round = everyLevel();

  const stateOf = (level: Level, id: string, tenantId: string): L => {
    const ofLevel = states[level];
    let state = ofLevel.get(id);
    if (state === undefined) ofLevel.set(id, (state = create(level, id, tenantId)));
    return state;
  };

  const refresh = (scope: LimitScope, compiled: CompiledScope<L>): void => {
    compiled.levels = scope.levels.map(({ level, id }) => stateOf(level, id, scope.tenantId));
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
        compiled = { levels: NONE, windows: NONE, generation: -1 };
        known.set(scope, compiled);
      }
      if (compiled.generation !== generation) refresh(scope, compiled);
      for (const level of compiled.levels) level.named = true;
      return compiled;
    },
    forgetIdle(holds = () => false) {
      const monotonicMs = monotonic();
      const nowMs = now();
      for (let looks = 0; looks < LOOKS; looks++) {
        const next = round.next();
        if (next.done === true) {
          round = everyLevel();
          return;
        }
        const [ofLevel, level] = next.value;
        if (level.named) {
          level.named = false;
          level.namedAtMs = monotonicMs;
        } else if (monotonicMs - level.namedAtMs >= IDLE_MS && level.isEmpty(nowMs) && !holds(level)) {
          ofLevel.delete(level.id);
          // Scopes that knew it look it up again.
          generation++;
        }
      }
    },
  };
}
