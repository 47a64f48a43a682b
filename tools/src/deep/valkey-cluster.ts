import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { systemClock, type LimitScope } from '@sluice/contracts';
import { createValkeyLimitStore } from '@sluice/limits';
import { findRedisServer, startRedis } from '@sluice/testing';
import type { DeepCheck } from './deep-check.ts';

const NODES = 3;
const SLOTS = 16_384;
const TENANTS = 30;
const CALLS = 20;
const READY_MS = 20_000;

/** Sends one command to a node and gives the raw answer. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    socket.setTimeout(5_000, () => socket.destroy(new Error(`node ${port} did not answer '${line}'`)));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      const answer = data.toString();
      if (answer.startsWith('-')) reject(new Error(`node ${port} answered '${line}' with ${answer.trim()}`));
      else resolve(answer);
    });
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + READY_MS;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`${what} took longer than ${READY_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function scopeOf(tenant: string): LimitScope {
  const limits = {
    requests: { perSecond: 1, burst: 1_000 },
    concurrency: { inFlight: 100, queued: 10 },
    quotas: [
      {
        id: 'day',
        meter: 'total_tokens' as const,
        span: { kind: 'calendar' as const, period: 'day' as const },
        limit: 1_000,
        mode: 'hard' as const,
        alertAtPercent: [],
      },
    ],
  };
  return {
    tenantId: tenant,
    timeZone: 'UTC',
    levels: [
      { level: 'tenant', id: tenant, limits },
      { level: 'workspace', id: `${tenant}-w`, limits },
    ],
  };
}

/**
 * Two gateways on a cluster of three nodes: every script stays in one slot, and the limits are the same as on one
 * node.
 */
export const valkeyCluster: DeepCheck = {
  name: 'Limits are exact across two gateways on a three-node Valkey cluster',
  async run() {
    let program: string;
    try {
      program = findRedisServer();
    } catch (error) {
      return { skipped: error instanceof Error ? error.message : String(error) };
    }
    const { stdout: version } = await promisify(execFile)(program, ['--version']);
    const nodes = await Promise.all(Array.from({ length: NODES }, () => startRedis({ cluster: true })));
    try {
      const first = nodes[0] as (typeof nodes)[number];
      for (const [i, node] of nodes.entries()) {
        const [from, to] = [Math.floor((SLOTS * i) / NODES), Math.floor((SLOTS * (i + 1)) / NODES) - 1];
        await command(node.port, `CLUSTER ADDSLOTSRANGE ${from} ${to}`);
        await command(node.port, `CLUSTER SET-CONFIG-EPOCH ${i + 1}`);
        if (i > 0) await command(node.port, `CLUSTER MEET 127.0.0.1 ${first.port}`);
      }
      await until('the cluster', async () => {
        const states = await Promise.all(nodes.map(({ port }) => command(port, 'CLUSTER INFO')));
        return states.every(
          (state) => state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${NODES}`),
        );
      });
      const url = nodes.map((node) => node.url).join(',');
      const stores = ['gw-1', 'gw-2'].map((gatewayId) =>
        createValkeyLimitStore({
          url,
          cellId: 'cluster',
          gatewayId,
          clock: systemClock,
          leaseShare: 0,
          commandTimeoutMs: 5_000,
        }),
      );
      try {
        await until('the connection', async () => {
          await Promise.all(stores.map((store) => store.view(scopeOf('first'))));
          return stores.every((store) => store.status.state === 'connected');
        });
        let admitted = 0;
        for (let tenant = 0; tenant < TENANTS; tenant++) {
          const scope = scopeOf(`tenant-${tenant}`);
          const reservation = { inputTokens: 100, outputTokens: 0, costNanoUsd: 0 };
          const results = await Promise.all(
            Array.from({ length: CALLS }, async (_, i) =>
              stores[i % 2]?.admit({ leaseId: `${tenant}-${i}`, scope, reservation }),
            ),
          );
          const count = results.filter((result) => result?.admitted).length;
          if (count !== 10) throw new Error(`tenant ${tenant}: ${count} of ${CALLS} calls had room in a quota for 10`);
          admitted += count;
        }
        const keys = await Promise.all(nodes.map(async ({ port }) => Number((await command(port, 'DBSIZE')).slice(1))));
        if (keys.some((count) => count === 0))
          throw new Error(`the keys are not spread over the nodes: ${keys.join(', ')}`);
        return `${admitted} admissions of ${TENANTS} tenants, keys on the nodes: ${keys.join(', ')}; ${version.trim().split(' ').slice(0, 3).join(' ')}`;
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  },
};
