import type { SimFault } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';

/** The fault controls of the simulated providers. */
export interface SimControl {
  /** @throws ProblemError 400 for a fault or provider that the simulator refuses, 502 when it does not answer. */
  setFault(provider: string, fault: SimFault): Promise<void>;
  clearFault(provider: string): Promise<void>;
}

const TIMEOUT_MS = 5_000;

export function createSimControl(deps: { url: string; fetch?: typeof fetch }): SimControl {
  const doFetch = deps.fetch ?? fetch;

  async function call(method: string, provider: string, body?: SimFault): Promise<void> {
    const url = new URL(`/providers/${encodeURIComponent(provider)}/fault`, deps.url);
    let answer: Response;
    try {
      answer = await doFetch(url, {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
    } catch {
      throw new ProblemError(502, 'The simulated providers do not answer');
    }
    const detail = (await answer.text()).slice(0, 300);
    if (!answer.ok)
      throw new ProblemError(answer.status === 404 ? 404 : 400, 'The simulator refused the fault', { detail });
  }

  return {
    setFault: (provider, fault) => call('POST', provider, fault),
    clearFault: (provider) => call('DELETE', provider),
  };
}
