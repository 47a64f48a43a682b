import type { Clock, Credential } from '@sluice/contracts';
import { MinuteWindow } from './minute-window.ts';

/** Tenants whose use is kept; those of whom nothing is left in the window are forgotten beyond it. */
const MAX_TENANTS = 1_000;

/** Who asks for how much of an account's rate. */
export interface RateDemand {
  readonly tenantId: string;
  /** Largest share of it that this tenant may have, percent. */
  readonly maxSharePercent: number;
  /** Expected input and output. */
  readonly tokens: number;
}

/** What one attempt took; ended in one way. */
export interface RateUse {
  /** It was not sent: nothing was used. */
  giveBack(): void;
  /** It is sent only now, because it had to wait. */
  sentNow(): void;
  /** What it really used, tokens. */
  trueUp(tokens: number): void;
}

interface Windows {
  readonly requests: MinuteWindow;
  readonly tokens: MinuteWindow;
}

const newWindows = (): Windows => ({ requests: new MinuteWindow(), tokens: new MinuteWindow() });

/**
 * Requests and tokens per minute of one account at a provider. Nothing above them is sent: the provider would
 * refuse it and rest the account for everybody. As with slots, no tenant may have more than its share, so that
 * others find some left. Each gateway counts its own.
 */
export class CredentialRate {
  readonly #clock: Clock;
  readonly #all = newWindows();
  readonly #tenants = new Map<string, Windows>();
  #credential: Credential;

  constructor(credential: Credential, clock: Clock) {
    this.#credential = credential;
    this.#clock = clock;
  }

  /** The limits of a new configuration; what was used stays. */
  resize(credential: Credential): void {
    this.#credential = credential;
  }

  /** Until this much may be sent, milliseconds; 0 when it may be now. */
  waitMs({ tenantId, maxSharePercent, tokens }: RateDemand): number {
    const { requestsPerMinute, tokensPerMinute, tenants } = this.#credential;
    const now = this.#clock.monotonic();
    const own = this.#tenants.get(tenantId);
    const share = tenants?.length === 1 ? 1 : maxSharePercent / 100;
    let waitMs = 0;
    if (requestsPerMinute !== undefined) {
      waitMs = this.#all.requests.waitMs(1, requestsPerMinute, now);
      if (own !== undefined)
        waitMs = Math.max(waitMs, own.requests.waitMs(1, Math.max(1, Math.floor(requestsPerMinute * share)), now));
    }
    if (tokensPerMinute !== undefined) {
      waitMs = Math.max(waitMs, this.#all.tokens.waitMs(tokens, tokensPerMinute, now));
      if (own !== undefined) waitMs = Math.max(waitMs, own.tokens.waitMs(tokens, tokensPerMinute * share, now));
    }
    return waitMs;
  }

  take({ tenantId, tokens }: RateDemand): RateUse {
    const clock = this.#clock;
    const both = [this.#all, this.#tenantOf(tenantId)];
    let second = 0;
    let counted = tokens;
    const count = (sign: 1 | -1): void => {
      for (const { requests, tokens: used } of both) {
        if (sign === -1) {
          requests.change(second, -1);
          used.change(second, -counted);
        } else {
          second = requests.add(1, clock.monotonic());
          used.add(counted, clock.monotonic());
        }
      }
    };
    count(1);
    return {
      giveBack: () => count(-1),
      sentNow: () => {
        count(-1);
        count(1);
      },
      trueUp: (real) => {
        for (const { tokens: used } of both) used.change(second, real - counted);
        counted = real;
      },
    };
  }

  #tenantOf(tenantId: string): Windows {
    let own = this.#tenants.get(tenantId);
    if (own === undefined) {
      if (this.#tenants.size >= MAX_TENANTS) {
        const now = this.#clock.monotonic();
        for (const [id, { requests }] of this.#tenants) if (requests.sum(now) <= 0) this.#tenants.delete(id);
      }
      this.#tenants.set(tenantId, (own = newWindows()));
    }
    return own;
  }
}

/** Whether an account has a rate that must be kept. */
export function hasRate({ requestsPerMinute, tokensPerMinute }: Credential): boolean {
  return requestsPerMinute !== undefined || tokensPerMinute !== undefined;
}
