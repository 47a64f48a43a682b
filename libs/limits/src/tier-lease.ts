import {
  inputTokens,
  outputTokens,
  type AdmissionLease,
  type AdmitRequest,
  type LimitScope,
  type Reservation,
  type Settlement,
} from '@sluice/contracts';
import { meterUnits, rateTokens } from './admission.ts';
import type { QuotaState } from './level-state.ts';
import type { CompiledScope } from './scopes.ts';
import type { TierLevel } from './tier-level.ts';
import type { TierTenant } from './tier-tenant.ts';
import type { WindowLoan } from './window-loan.ts';

/** A call that runs, at the gateway that admitted it. */
export class TierLease implements AdmissionLease {
  readonly id: string;
  readonly scope: LimitScope;
  readonly reservation: Reservation;
  readonly admittedAtMs: number;
  readonly compiled: CompiledScope<TierLevel<TierTenant>>;
  readonly tenant: TierTenant;
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
    compiled: CompiledScope<TierLevel<TierTenant>>,
    tenant: TierTenant,
    nowMs: number,
    monotonicMs: number,
  ) {
    this.id = leaseId;
    this.scope = scope;
    this.reservation = reservation;
    this.admittedAtMs = nowMs;
    this.compiled = compiled;
    this.tenant = tenant;
    this.windows = compiled.windows;
    this.admittedMonotonicMs = monotonicMs;
    this.input = reservation.inputTokens;
    this.output = reservation.outputTokens;
    this.cost = reservation.costNanoUsd;
  }

  /** The reservation grew, and the counters know. */
  addReserved(input: number, output: number, cost: number): void {
    this.input += input;
    this.output += output;
    this.cost += cost;
  }

  /** Lets the reservation grow out of what this gateway was lent; buckets may go into debt. */
  takeMore(input: number, output: number, cost: number, monotonicMs: number): void {
    this.addReserved(input, output, cost);
    for (const level of this.compiled.levels) {
      level.dirty = true;
      if (level.tokens === undefined) continue;
      level.tokensFree -= input + output;
      level.tokens.take(input + output, monotonicMs);
    }
    for (const { loan: given, counter, meter } of this.windows) {
      const loan = given as WindowLoan;
      const units = meterUnits(meter, input, output, cost);
      loan.free -= units;
      loan.out += units;
      counter.reserved += units;
    }
  }

  /** Gives everything back to this gateway's part, and counts what was used. */
  end(settlement: Settlement, nowMs: number, monotonicMs: number): void {
    this.settled = true;
    const used = settlement.kind === 'used';
    const atMs = (used ? settlement.atMs : undefined) ?? nowMs;
    const input = used ? inputTokens(settlement.usage) : 0;
    const output = used ? outputTokens(settlement.usage) : 0;
    const left = this.input + this.output - (used ? rateTokens(settlement.usage, this.reservation) : 0);
    for (const { loan: given, counter, meter } of this.windows) {
      const loan = given as WindowLoan;
      const units = meterUnits(meter, this.input, this.output, this.cost);
      loan.out -= units;
      loan.free += units;
      counter.reserved -= units;
    }
    const heldMs = monotonicMs - this.admittedMonotonicMs;
    for (const level of this.compiled.levels) {
      level.dirty = true;
      level.inFlight--;
      level.slotsFree++;
      level.bulkhead.leave(heldMs);
      if (level.tokens !== undefined) {
        level.tokensFree += left;
        level.tokens.give(left, monotonicMs);
      }
      if (!used && level.requests !== undefined) {
        level.requestsFree++;
        level.requests.give(1, monotonicMs);
      }
      if (!used) continue;
      for (const { loan: given, counter, meter } of level.windows) {
        const loan = given as WindowLoan;
        const units = meterUnits(meter, input, output, settlement.costNanoUsd);
        loan.free -= units;
        loan.use(units, atMs, counter.stepStart(atMs));
        counter.addAt(units, atMs, nowMs);
      }
    }
  }
}
