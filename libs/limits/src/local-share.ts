import type { TierLevel } from './tier-level.ts';
import type { WindowLoan } from './window-loan.ts';

/** Puts the local share in force: each limit, and what was known to be left of each quota, divided by the gateways. */
export function enterShare(level: TierLevel, gateways: number, nowMs: number, monotonicMs: number): void {
  const { requests, tokens, shares } = level;
  level.share = true;
  level.lowRequests = level.lowTokens = -Infinity;
  shares.atMs = monotonicMs;
  divide(level, gateways);
  const part = (free: number, whole: number): number => free + Math.max(0, whole - Math.max(0, free)) / gateways;
  level.requestsFree = Math.min(shares.requests, part(level.requestsFree, requests?.level(monotonicMs) ?? 0));
  level.tokensFree = Math.min(shares.tokens, part(level.tokensFree, tokens?.level(monotonicMs) ?? 0));
  shares.windows.clear();
  for (const window of level.windows) {
    const { threshold, counter } = window;
    const loan = window.loan as WindowLoan;
    loan.low = -Infinity;
    if (!Number.isFinite(threshold)) continue;
    shares.windows.set(window, threshold);
    counter.roll(nowMs);
    loan.free = Math.floor(part(loan.free, threshold - counter.used - counter.reserved));
  }
}

/** Fills the share as time goes on: buckets by their rate, windows by what they forget; and follows changed limits. */
export function fillShare(level: TierLevel, gateways: number, nowMs: number, monotonicMs: number): void {
  const { shares } = level;
  const elapsedMs = monotonicMs - shares.atMs;
  if (elapsedMs > 0) {
    shares.atMs = monotonicMs;
    level.requestsFree = Math.min(shares.requests, level.requestsFree + elapsedMs * shares.requestsPerMs);
    level.tokensFree = Math.min(shares.tokens, level.tokensFree + elapsedMs * shares.tokensPerMs);
  }
  for (const window of level.windows) {
    const before = window.counter.used;
    window.counter.roll(nowMs);
    if (window.counter.used < before)
      (window.loan as WindowLoan).free += Math.floor((before - window.counter.used) / gateways);
  }
  if (shares.version !== level.version) follow(level, gateways);
}

/** Limits that changed while the share decides: what was spent of it stays spent, a limit that is new has all of its share. */
function follow(level: TierLevel, gateways: number): void {
  const { shares } = level;
  const { requests, tokens } = shares;
  divide(level, gateways);
  level.requestsFree = resized(level.requestsFree, requests, shares.requests);
  level.tokensFree = resized(level.tokensFree, tokens, shares.tokens);
  for (const window of level.windows) {
    const { threshold, counter } = window;
    if (!Number.isFinite(threshold)) continue;
    const loan = window.loan as WindowLoan;
    const before = shares.windows.get(window);
    shares.windows.set(window, threshold);
    loan.low = -Infinity;
    if (before === undefined)
      loan.free = Math.floor(Math.max(0, threshold - counter.used - counter.reserved) / gateways);
    else loan.free += Math.floor((threshold - before) / gateways);
  }
}

/** Size and rate of the local share of each limit in force. */
function divide(level: TierLevel, gateways: number): void {
  const { requests, tokens, bulkhead, shares } = level;
  shares.version = level.version;
  shares.requests = requests === undefined ? 0 : Math.max(1, requests.capacity / gateways);
  shares.requestsPerMs = requests === undefined ? 0 : requests.ratePerMs / gateways;
  shares.tokens = tokens === undefined ? 0 : tokens.capacity / gateways;
  shares.tokensPerMs = tokens === undefined ? 0 : tokens.ratePerMs / gateways;
  shares.slots = Math.max(1, Math.floor(bulkhead.maxInFlight / gateways));
  shares.queued = bulkhead.maxQueued === 0 ? 0 : Math.max(1, Math.floor(bulkhead.maxQueued / gateways));
  level.slotsFree = shares.slots - level.inFlight;
}

/** What is left of a bucket whose size changes: the same part of it; debt stays as it is. */
function resized(left: number, before: number, size: number): number {
  if (before === 0) return size;
  return left > 0 ? (left / before) * size : left;
}
