import { GatewayReport } from '@sluice/contracts';
import { z } from 'zod';

const State = z.object({ gateways: z.array(GatewayReport.pick({ gateway_id: true, estimates: true })) });

/**
 * How far the gateways' expectations of a call's tokens were from what providers counted, one row per workspace under a
 * head: had they not learned, and as they were. Reads the value of `GET /api/state`.
 */
export function estimateErrors(state: unknown): string[][] {
  const rows = State.parse(state).gateways.flatMap(({ gateway_id, estimates }) =>
    estimates.map(({ workspace, calls, uncalibrated_percent: before, calibrated_percent: after }) => [
      gateway_id,
      workspace,
      String(calls),
      `${before.toFixed(1)} %`,
      `${after.toFixed(1)} %`,
    ]),
  );
  return [['gateway', 'workspace', 'calls', 'error before', 'error after'], ...rows];
}
