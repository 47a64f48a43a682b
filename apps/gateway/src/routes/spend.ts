import { Agent, request } from 'undici';
import { KeySpend, type Clock } from '@sluice/contracts';

/** An answer is given again for this long, so that a caller that polls does not load the database. */
const FRESH_MS = 5_000;
const TIMEOUT_MS = 1_500;
/** Keys whose answer is remembered. */
const MAX_KEYS = 10_000;

/**
 * What a key and its workspace spent this month, as the ledger has it; undefined while the control plane does not
 * say.
 */
export interface SpendSource {
  of(keyId: string): Promise<KeySpend | undefined>;
  close(): Promise<void>;
}

export interface SpendSourceDeps {
  /** Base URL of the control plane. */
  readonly url: string;
  readonly token: string;
  readonly clock: Clock;
}

/** Asks the control plane, at most once in five seconds for each key; calls for the same key share one question. */
export function createSpendSource({ url, token, clock }: SpendSourceDeps): SpendSource {
  const agent = new Agent({
    connections: 2,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    connect: { timeout: TIMEOUT_MS },
  });
  const known = new Map<string, { readonly atMs: number; readonly answer: Promise<KeySpend | undefined> }>();

  async function ask(keyId: string): Promise<KeySpend | undefined> {
    try {
      const response = await request(`${url}/internal/keys/${encodeURIComponent(keyId)}/spend`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}` },
      });
      if (response.statusCode !== 200) {
        await response.body.dump();
        return undefined;
      }
      return KeySpend.parse(await response.body.json());
    } catch {
      // A caller is told that its spend is not known now; its limits are known here.
      return undefined;
    }
  }

  return {
    of(keyId) {
      const last = known.get(keyId);
      if (last !== undefined && clock.monotonic() - last.atMs < FRESH_MS) return last.answer;
      if (known.size >= MAX_KEYS) known.delete(known.keys().next().value as string);
      const answer = ask(keyId);
      known.delete(keyId);
      known.set(keyId, { atMs: clock.monotonic(), answer });
      return answer;
    },
    close: () => agent.destroy(),
  };
}
