import { AuditExport, declareTopology, LOCAL_REGION, type StackFile } from '@sluice/contracts';
import {
  compareTopology,
  consumptionFaults,
  createSpineClients,
  describeDeployed,
  type ConsumerClaim,
} from '@sluice/events';
import { z } from 'zod';
import { StackError } from '../stack/running-stack.ts';
import { getJson, signInAsOperator } from './operator-api.ts';

const Ready = z.object({
  detail: z.object({ consumes: z.array(z.object({ queue: z.string(), retry_budget: z.int() })) }),
});

/** What each consuming process says of itself on its private port. */
async function readClaims(stack: StackFile, faults: string[]): Promise<Record<string, ConsumerClaim[]>> {
  const claims: Record<string, ConsumerClaim[]> = {};
  for (const process of ['control-plane', 'router'] as const) {
    try {
      claims[process] = Ready.parse(await getJson(`${stack.services[process].adminUrl}/ready`)).detail.consumes;
    } catch (error) {
      faults.push(
        `${process} does not say what it consumes: ${error instanceof StackError ? error.message : 'its /ready has no consumes'}`,
      );
    }
  }
  return claims;
}

/**
 * Compares what is deployed with the declaration: topics, queues, DLQs and subscriptions attribute by attribute,
 * the exports that the configuration wants, who consumes which queue, and each consumer's retry budget with its
 * queue's `maxReceiveCount`.
 */
export async function verifyTopology(stack: StackFile): Promise<{ text: string; faults: string[] }> {
  const api = await signInAsOperator(stack);
  const exports = z.array(AuditExport).parse(await api.get('/api/exports'));
  const declared = declareTopology(exports.filter(({ state }) => state !== 'draining').map(({ tenant }) => tenant));
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const clients = createSpineClients({ endpoint: stack.services.spine.url, region: LOCAL_REGION, credentials });
  try {
    const deployed = await describeDeployed(declared, clients);
    const faults = compareTopology(declared, deployed);
    const claims = await readClaims(stack, faults);
    faults.push(...consumptionFaults(claims, declared, deployed));
    const consumed = Object.values(claims).flat().length;
    return {
      text: `Deployed topology equals the declared one: ${declared.topics.length} topics, ${declared.queues.length} queues with their DLQs and subscriptions; ${consumed} consumers with the queues' retry budgets`,
      faults,
    };
  } finally {
    clients.close();
  }
}
