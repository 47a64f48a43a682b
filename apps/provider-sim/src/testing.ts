import { SimStats, type SimFault, type SimProviderName } from '@sluice/contracts';
import { startProviderSim, type ProviderSim } from './compose.ts';

/** A simulator on free ports, and its control port as functions. */
export interface TestSim extends ProviderSim {
  control(method: string, path: string, body?: unknown): Promise<Response>;
  fault(provider: SimProviderName, fault: SimFault): Promise<void>;
  stats(provider: SimProviderName): Promise<SimStats>;
}

export async function startTestSim(slots?: number): Promise<TestSim> {
  const ports = { simControl: 0, simPrimary: 0, simSecondary: 0, simTertiary: 0 };
  const sim = await startProviderSim({ host: '127.0.0.1', ports, ...(slots === undefined ? {} : { slots }) });
  const control = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${sim.controlUrl}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return {
    ...sim,
    control,
    async fault(provider, fault) {
      const answer = await control('POST', `/providers/${provider}/fault`, fault);
      if (answer.status !== 200) throw new Error(`fault refused: ${await answer.text()}`);
    },
    stats: async (provider) => SimStats.parse(await (await control('GET', `/providers/${provider}/stats`)).json()),
  };
}

/** An OpenAI call with a fetch of its own: no retries, no patience. */
export function post(url: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    ...init,
    headers: { authorization: 'Bearer any', 'content-type': 'application/json', ...init.headers },
  });
}

/** A body that is answered without any delay. */
export function instantBody(more: object = {}, sim: object = {}): Record<string, unknown> {
  return {
    model: 'sim-small',
    messages: [{ role: 'user', content: 'Hello there' }],
    sim: { ttft_ms: 0, chunk_ms: 0, ...sim },
    ...more,
  };
}
