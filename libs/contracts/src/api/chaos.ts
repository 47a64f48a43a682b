import { z } from 'zod';
import { Name } from '../ids.ts';
import { SimFault } from './simulator.ts';

/** `POST /api/chaos/flood`. */
export const ChaosFlood = z.strictObject({ tenant: Name, rps: z.int().min(1).max(2000), seconds: z.int().min(1).max(600) });
export type ChaosFlood = z.infer<typeof ChaosFlood>;

/** `POST /api/chaos/provider`. */
export const ChaosProvider = SimFault.extend({ provider: Name });
export type ChaosProvider = z.infer<typeof ChaosProvider>;

/** `POST /api/chaos/consumer`. */
export const ChaosConsumer = z.strictObject({
  consumer: z.enum(['audit', 'metering', 'anomaly']),
  broken: z.boolean(),
  seconds: z.int().min(1).max(3600).default(60),
});
export type ChaosConsumer = z.infer<typeof ChaosConsumer>;
