import { type ConsumerProcess, type Topology } from '@sluice/contracts';
import { compareQueue } from './compare-topology.ts';
import type { DeployedTopology } from './describe-deployed.ts';

/** What a process says of a queue that it consumes; a part of its `/ready`. */
export interface ConsumerClaim {
  readonly queue: string;
  /** Receives after which it expects the queue to give a message up. */
  readonly retry_budget: number;
}

function deployedBudget(deployed: DeployedTopology, queue: string): number | undefined {
  const text = deployed.queues[queue]?.['RedrivePolicy'];
  return text === undefined ? undefined : Number((JSON.parse(text) as { maxReceiveCount?: unknown }).maxReceiveCount);
}

/** What is wrong between one process that consumes queues and what is declared of them; the deployed budgets too. */
function claimFaults(
  process: string,
  claims: readonly ConsumerClaim[],
  declared: Topology,
  deployed: DeployedTopology,
): string[] {
  const out: string[] = [];
  for (const { queue: name, retry_budget: budget } of claims) {
    const queue = declared.queues.find((candidate) => candidate.name === name);
    if (queue === undefined) {
      out.push(`${process} consumes queue ${name}, which is not declared`);
      continue;
    }
    if (queue.consumer !== process) {
      out.push(
        `queue ${name} is declared for ${queue.consumer ?? 'a customer'} and ${process} consumes it: two consumers share a queue, and each gets a part of the messages`,
      );
    }
    const actual = deployedBudget(deployed, name);
    if (actual !== undefined && actual !== budget) {
      out.push(
        `retry budgets disagree: ${process} is built for ${budget} receives of a message from ${name}, the queue dead-letters after ${actual}`,
      );
    }
  }
  const names = claims.map((claim) => claim.queue);
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) !== at)))
    out.push(`two consumers of ${process} share queue ${name}`);
  return out;
}

/**
 * What a consuming process finds wrong at its boot with the queues that it consumes: budgets, filters, sharing,
 * attributes.
 */
export function consumerFaults(
  process: ConsumerProcess,
  claims: readonly ConsumerClaim[],
  declared: Topology,
  deployed: DeployedTopology,
): string[] {
  const own = declared.queues.filter((queue) => claims.some((claim) => claim.queue === queue.name));
  return [
    ...claimFaults(process, claims, declared, deployed),
    ...own.flatMap((queue) => compareQueue(queue, deployed)),
  ];
}

/** What is wrong between all processes and the declaration: as above, and queues that nobody or several consume. */
export function consumptionFaults(
  claims: Readonly<Record<string, readonly ConsumerClaim[]>>,
  declared: Topology,
  deployed: DeployedTopology,
): string[] {
  const out = Object.entries(claims).flatMap(([process, own]) => claimFaults(process, own, declared, deployed));
  for (const queue of declared.queues) {
    const by = Object.keys(claims).filter((process) => claims[process]?.some((claim) => claim.queue === queue.name));
    if (queue.consumer !== undefined && !by.includes(queue.consumer))
      out.push(`queue ${queue.name} is declared for ${queue.consumer}, which does not consume it: it grows`);
  }
  return out;
}
