import type { Pool } from 'undici';
import { appendClientRecord } from './client-records.ts';
import { sendCall, type CallRequest, type CallResult } from './send-call.ts';

/** `sendCall`, and what it was told goes into the file that `make verify` reads. */
export async function recordedCall(
  file: string,
  workspace: string,
  pool: Pool,
  call: CallRequest,
): Promise<CallResult> {
  const result = await sendCall(pool, call);
  const { requestId, told, outcome, status } = result;
  if (requestId !== undefined) {
    appendClientRecord(file, {
      at: new Date().toISOString(),
      workspace,
      request_id: requestId,
      outcome,
      status,
      ...(told !== undefined && { tokens: { input: told.input, output: told.output } }),
      ...(told?.costNanoUsd !== undefined && { cost_nanousd: told.costNanoUsd }),
    });
  }
  return result;
}
