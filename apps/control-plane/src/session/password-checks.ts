import type { Clock } from '@sluice/contracts';
import { networkOf } from '@sluice/service-kit';
import { createDeviceTokens } from './device-tokens.ts';
import { createFailureCounts } from './failure-counts.ts';
import { createPasswordTurns, type Caller, type Timers } from './password-turns.ts';
import { verifyPassword } from './password.ts';

/** Who tries a password. */
export interface From {
  /** The client's address, as the nearest trusted proxy saw it. */
  readonly address?: string | undefined;
  /** Proof of an earlier sign-in, as the device brought it. */
  readonly device?: string | undefined;
  /** The caller is signed in to the account already. */
  readonly signedIn?: boolean | undefined;
}

/** A device with so many recent failures is no proof any more until they have faded. */
const FAILURES_OF_DEVICE = 10;
/** A wrong password is answered at a whole multiple of this after it came, milliseconds. */
const FAILURE_STEP_MS = 1_000;
const PAIRS_KEPT = 10_000;

/** The one place where passwords are checked; operators and people share it. */
export interface PasswordChecks {
  /**
   * Whether the password is right. `hash` is absent for an account that does not exist: nothing is computed for it,
   * and the answer comes when that of a wrong password would.
   *
   * @throws ProblemError 429 for a caller who would wait too long.
   */
  check(account: string, attempt: { password: string; hash: string | undefined; from: From }): Promise<boolean>;
  /** The proof for a device that has just signed in. */
  deviceToken(account: string): string;
}

export interface PasswordChecksDeps {
  readonly clock: Clock;
  /** Signs the proofs of devices. */
  readonly deviceKey: string;
  readonly timers?: Timers;
  readonly failureStepMs?: number | undefined;
  readonly verify?: typeof verifyPassword;
}

/**
 * Hashing is what guessing costs us, so a few checks run at once and take turns: callers who prove an earlier sign-in
 * to the account first, then addresses that have signed in to it, then the others by recent failures. Wrong passwords
 * are slowed down and nobody is locked out.
 */
export function createPasswordChecks(deps: PasswordChecksDeps): PasswordChecks {
  const { clock, timers = globalTimers, failureStepMs = FAILURE_STEP_MS, verify = verifyPassword } = deps;
  const tokens = createDeviceTokens({ clock, key: deps.deviceKey });
  const turns = createPasswordTurns(timers);
  const [ofAddress, ofAccount, ofDevice] = [
    createFailureCounts({ clock }),
    createFailureCounts({ clock }),
    createFailureCounts({ clock }),
  ];
  /** Pairs of an address and an account that it has signed in to, the latest last. */
  const signedIn = new Set<string>();
  /** What a check takes, averaged; an account that does not exist is answered as if it had taken that. */
  let usualMs = 0;

  function callerOf(account: string, from: From): Caller {
    const address = networkOf(from.address ?? 'unknown');
    const device = from.signedIn === true ? 'session' : tokens.deviceOf(from.device, account);
    const lane = device === undefined ? account : `${account} ${device}`;
    const proven = device !== undefined && ofDevice.of(lane) < FAILURES_OF_DEVICE;
    return {
      standing: proven ? 'proven' : signedIn.has(`${address} ${account}`) ? 'known' : 'stranger',
      address,
      account,
      lane: proven ? lane : account,
      failures: [ofAddress.of(address), ofAccount.of(account)],
    };
  }

  function noteFailure({ standing, address, account, lane }: Caller): void {
    if (standing === 'proven') return ofDevice.note(lane);
    ofAddress.note(address);
    ofAccount.note(account);
  }

  function noteSuccess({ address, account }: Caller): void {
    const pair = `${address} ${account}`;
    signedIn.delete(pair);
    signedIn.add(pair);
    const [oldest] = signedIn.size > PAIRS_KEPT ? signedIn : [];
    if (oldest !== undefined) signedIn.delete(oldest);
  }

  async function measured(password: string, hash: string): Promise<boolean> {
    const beganMs = clock.monotonic();
    const matches = await verify(password, hash);
    usualMs += (clock.monotonic() - beganMs - usualMs) / 8;
    return matches;
  }

  return {
    deviceToken: (account) => tokens.issue(account),
    async check(account, { password, hash, from }) {
      const cameMs = clock.monotonic();
      const caller = callerOf(account, from);
      const turn = await turns.take(caller).catch((error: unknown) => {
        // Who asks for more than it gets goes behind those who do not.
        if (caller.standing !== 'proven') noteFailure(caller);
        throw error;
      });
      try {
        let matches: boolean;
        try {
          matches = hash !== undefined && (await measured(password, hash));
        } finally {
          turn.checked();
        }
        if (matches) {
          noteSuccess(caller);
          return true;
        }
        noteFailure(caller);
        const tookMs = clock.monotonic() - cameMs + (hash === undefined ? usualMs : 0);
        const answerMs = Math.max(1, Math.ceil(tookMs / Math.max(1, failureStepMs))) * failureStepMs;
        await new Promise<void>((resolve) =>
          timers.setTimeout(resolve, Math.max(0, cameMs + answerMs - clock.monotonic())),
        );
        return false;
      } finally {
        turn.answered();
      }
    },
  };
}

const globalTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
