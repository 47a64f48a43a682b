import { CorrectionCounts, QuotaAuditResponse, type QuotaAuditRequest } from '@sluice/contracts';
import { Agent, request } from 'undici';

/** The month of a large tenant takes the database a while; calls wait for less. */
const TIMEOUT_MS = 30_000;

/** What counters are compared with. Every call rejects when the control plane does not answer as agreed. */
export interface LedgerClient {
  audit(body: QuotaAuditRequest): Promise<QuotaAuditResponse>;
  corrections(): Promise<CorrectionCounts>;
  close(): Promise<void>;
}

export function createLedgerClient({ url, token }: { url: string; token: string }): LedgerClient {
  const agent = new Agent({
    connections: 1,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    connect: { timeout: 2_000 },
  });
  const ask = async (method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> => {
    const response = await request(`${url}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.statusCode === 200) return response.body.json();
    await response.body.dump();
    throw new Error(`the control plane answered ${path} with ${response.statusCode}`);
  };
  return {
    audit: async (body) => QuotaAuditResponse.parse(await ask('POST', '/internal/quota-audit', body)),
    corrections: async () => CorrectionCounts.parse(await ask('GET', '/internal/corrections')),
    close: () => agent.destroy(),
  };
}
