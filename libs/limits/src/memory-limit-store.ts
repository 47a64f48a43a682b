import {
  inputTokens,
  outputTokens,
  type AuditedLevel,
  type LevelAmendment,
  type LevelRef,
  type AdmissionLease,
  type AdmitRequest,
  type AdmitResult,
  type Clock,
  type LimitRefusal,
  type LimitScope,
  type LimitStore,
  type LimitStoreStatus,
  type LimitsView,
  type QuotaCheckpoint,
  type ReplayedUse,
  type Reservation,
  type Settlement,
} from '@sluice/contracts';
import { meterUnits, rateTokens, refuseByBulkhead, refuseByQuota, refuseByRate } from './admission.ts';
import { LevelState, type QuotaState } from './level-state.ts';
import { viewOf } from './limits-view.ts';
import { createScopes, type CompiledScope } from './scopes.ts';
import { auditOf, levelsWithWindows, unfoundedOf } from './level-audit.ts';
import { checkpointOf, createRestoredWindows } from './quota-checkpoint.ts';

class MemoryLease implements AdmissionLease {
  readonly id: string;
  readonly scope: LimitScope;
  readonly reservation: Reservation;
  readonly admittedAtMs: number;
  readonly compiled: CompiledScope<LevelState>;
  /** The windows that hold the reservation, whatever the limits become later. */
  readonly windows: readonly QuotaState[];
  readonly admittedMonotonicMs: number;
  input: number;
  output: number;
  cost: number;
  queued = false;
  settled = false;

  constructor(
    { leaseId, scope, reservation }: AdmitRequest,
    compiled: CompiledScope<LevelState>,
    nowMs: number,
    monotonicMs: number,
  ) {
    this.id = leaseId;
    this.scope = scope;
    this.reservation = reservation;
    this.admittedAtMs = nowMs;
    this.compiled = compiled;
    this.windows = compiled.windows;
    this.admittedMonotonicMs = monotonicMs;
    this.input = reservation.inputTokens;
    this.output = reservation.outputTokens;
    this.cost = reservation.costNanoUsd;
  }
}

const ALWAYS_CONNECTED: LimitStoreStatus = { state: 'connected' };

/** The memory store answers at once, so its callers need not wait. */
export interface MemoryLimitStore extends LimitStore {
  readonly kind: 'memory';
  admit(request: AdmitRequest): AdmitResult;
  topUp(lease: AdmissionLease, more: Reservation): LimitRefusal | undefined;
  enterQueue(lease: AdmissionLease): LimitRefusal | undefined;
  leaveQueue(lease: AdmissionLease): void;
  settle(lease: AdmissionLease, settlement: Settlement): boolean;
  look(scope: LimitScope, tokens: number): LimitRefusal | undefined;
  view(scope: LimitScope): LimitsView;
  takeRequest(scope: LimitScope): LimitRefusal | undefined;
  heartbeat(): void;
  checkpoint(): QuotaCheckpoint;
  restore(checkpoint: QuotaCheckpoint): void;
  replay(use: ReplayedUse): void;
  unfounded(scope: LimitScope): readonly LevelRef[];
  audit(levels: readonly LevelRef[]): readonly AuditedLevel[];
  amend(amendments: readonly LevelAmendment[]): readonly LevelRef[];
}

/**
 * The limit store of a cell that one gateway serves: exact, because every step runs to its end before another begins.
 * Nothing survives the process but what `checkpoint` gave.
 */
export function createMemoryLimitStore({ clock }: { clock: Clock }): MemoryLimitStore {
  const restored = createRestoredWindows();
  const { states, find, compile, forgetIdle } = createScopes({
    create: (level, id, tenantId) => new LevelState(level, id, tenantId),
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    pending: restored.take,
  });

  const reserve = (windows: readonly QuotaState[], input: number, output: number, cost: number, sign: 1 | -1): void => {
    for (const { meter, counter } of windows) counter.reserved += sign * meterUnits(meter, input, output, cost);
  };

  const addUse = (levels: readonly LevelState[], settlement: Settlement & { kind: 'used' }, nowMs: number): void => {
    const input = inputTokens(settlement.usage);
    const output = outputTokens(settlement.usage);
    for (const { windows } of levels) {
      for (const { meter, counter } of windows)
        counter.addAt(meterUnits(meter, input, output, settlement.costNanoUsd), settlement.atMs ?? nowMs, nowMs);
    }
  };

  const leaveQueue = (lease: MemoryLease): void => {
    if (!lease.queued) return;
    lease.queued = false;
    for (const { bulkhead } of lease.compiled.levels) bulkhead.queued--;
  };

  return {
    kind: 'memory',
    status: ALWAYS_CONNECTED,
    admit(request) {
      const compiled = compile(request.scope);
      const { levels } = compiled;
      const { inputTokens: input, outputTokens: output, costNanoUsd: cost } = request.reservation;
      const nowMs = clock.now();
      const monotonicMs = clock.monotonic();
      const refusal =
        refuseByQuota(levels, input, output, cost, nowMs) ??
        refuseByBulkhead(levels, 'in_flight') ??
        refuseByRate(levels, input + output, monotonicMs);
      if (refusal !== undefined) return { admitted: false, refusal, view: viewOf(levels, nowMs, monotonicMs) };
      reserve(compiled.windows, input, output, cost, 1);
      for (const { bulkhead, requests, tokens } of levels) {
        bulkhead.inFlight++;
        requests?.take(1, monotonicMs);
        tokens?.take(input + output, monotonicMs);
      }
      const lease = new MemoryLease(request, compiled, nowMs, monotonicMs);
      return { admitted: true, lease, view: viewOf(levels, nowMs, monotonicMs) };
    },
    topUp(given, more) {
      const lease = ours(given);
      if (lease.settled) return undefined;
      const { inputTokens: input, outputTokens: output, costNanoUsd: cost } = more;
      const refusal = refuseByQuota(lease.compiled.levels, input, output, cost, clock.now());
      if (refusal !== undefined) return refusal;
      reserve(lease.windows, input, output, cost, 1);
      const monotonicMs = clock.monotonic();
      for (const { tokens } of lease.compiled.levels) tokens?.take(input + output, monotonicMs);
      lease.input += input;
      lease.output += output;
      lease.cost += cost;
      return undefined;
    },
    enterQueue(given) {
      const lease = ours(given);
      if (lease.queued || lease.settled) return undefined;
      const refusal = refuseByBulkhead(lease.compiled.levels, 'queued');
      if (refusal !== undefined) return refusal;
      lease.queued = true;
      for (const { bulkhead } of lease.compiled.levels) bulkhead.queued++;
      return undefined;
    },
    leaveQueue: (given) => leaveQueue(ours(given)),
    settle(given, settlement) {
      const lease = ours(given);
      if (lease.settled) return false;
      lease.settled = true;
      leaveQueue(lease);
      const { levels } = lease.compiled;
      const monotonicMs = clock.monotonic();
      const reservedTokens = lease.input + lease.output;
      reserve(lease.windows, lease.input, lease.output, lease.cost, -1);
      if (settlement.kind === 'used') addUse(levels, settlement, clock.now());
      const usedTokens = settlement.kind === 'used' ? rateTokens(settlement.usage, lease.reservation) : 0;
      const heldMs = monotonicMs - lease.admittedMonotonicMs;
      for (const { bulkhead, requests, tokens } of levels) {
        bulkhead.leave(heldMs);
        tokens?.give(reservedTokens - usedTokens, monotonicMs);
        if (settlement.kind === 'unused') requests?.give(1, monotonicMs);
      }
      return true;
    },
    look(scope, tokens) {
      const { levels } = compile(scope);
      return (
        refuseByQuota(levels, tokens, 0, 0, clock.now()) ??
        refuseByBulkhead(levels, 'in_flight') ??
        refuseByRate(levels, tokens, clock.monotonic())
      );
    },
    view(scope) {
      return viewOf(compile(scope).levels, clock.now(), clock.monotonic());
    },
    takeRequest(scope) {
      const { levels } = compile(scope);
      const monotonicMs = clock.monotonic();
      const refusal = refuseByRate(levels, 0, monotonicMs);
      if (refusal === undefined) for (const { requests } of levels) requests?.take(1, monotonicMs);
      return refusal;
    },
    heartbeat: () => undefined,
    checkpoint() {
      forgetIdle();
      return checkpointOf(states(), restored, clock.now());
    },
    restore(checkpoint) {
      restored.put(checkpoint);
      const nowMs = clock.now();
      for (const state of states()) {
        for (const { definition, counter, meter } of state.windows) {
          const found = restored.take(state.level, state.id, definition.id, meter);
          if (found !== undefined) counter.amend(found.steps, nowMs);
        }
      }
    },
    replay({ scope, atMs, usage, costNanoUsd }) {
      const nowMs = clock.now();
      for (const { meter, counter } of compile(scope).windows) {
        counter.addAt(meterUnits(meter, inputTokens(usage), outputTokens(usage), costNanoUsd), atMs, nowMs);
      }
    },
    unfounded: (scope) => unfoundedOf(compile(scope).levels),
    levelsWithWindows: () => levelsWithWindows(states()),
    audit: (levels) =>
      levels.flatMap((ref) => {
        const state = find(ref);
        return state === undefined ? [] : [auditOf(state, clock.now())];
      }),
    amend(amendments) {
      for (const amendment of amendments) find(amendment)?.amend(amendment, clock.now());
      return amendments;
    },
    close: () => Promise.resolve(),
  };
}

function ours(lease: AdmissionLease): MemoryLease {
  if (lease instanceof MemoryLease) return lease;
  throw new TypeError(`lease ${lease.id} was not given by this store`);
}
