import { setTimeout as delay } from 'node:timers/promises';
import { RETRY_BUDGET, type ConsumerProcess, type Topology } from '@sluice/contracts';
import type { SpineLogger } from '../spine-logger.ts';
import { consumerFaults, type ConsumerClaim } from './consumer-faults.ts';
import { describeDeployed } from './describe-deployed.ts';
import type { SpineClients } from './spine-clients.ts';

export interface ConsumerCheck {
  readonly claims: readonly ConsumerClaim[];
  /** Undefined until the spine has answered. */
  readonly faults: readonly string[] | undefined;
  /** Resolves when the spine was asked, or when stopped before. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Compares, once at boot and beside it, the queues that a process consumes with their declaration, and warns of
 * each difference. It goes on asking while the spine does not answer; nothing is repaired, because a repair could
 * hide who changed it.
 */
export function checkConsumers(deps: {
  process: ConsumerProcess;
  /** Names of the queues that it consumes, one entry per consumer. */
  queues: readonly string[];
  topology: Topology;
  spine: SpineClients;
  logger: SpineLogger;
  retryMs?: number;
}): ConsumerCheck {
  const { process, queues, topology, spine, logger, retryMs = 2_000 } = deps;
  const claims = queues.map((queue): ConsumerClaim => ({ queue, retry_budget: RETRY_BUDGET }));
  const stopping = new AbortController();
  let faults: readonly string[] | undefined;
  let told = false;

  const ask = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const own = { topics: topology.topics, queues: topology.queues.filter((queue) => queues.includes(queue.name)) };
        faults = consumerFaults(process, claims, topology, await describeDeployed(own, spine));
        for (const fault of faults) logger.warn({ process, fault }, 'the deployed spine is not as declared');
        return;
      } catch (error) {
        if (!told)
          logger.warn(
            { process, err: error },
            'the deployed spine cannot be compared with its declaration yet; tried again',
          );
        told = true;
        await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const done = ask();
  return {
    claims,
    get faults() {
      return faults;
    },
    done,
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}
