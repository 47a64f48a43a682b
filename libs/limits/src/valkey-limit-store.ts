import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Ioredis from 'ioredis';
import type { Authority } from './authority.ts';
import { TenantFault } from './tenant-fault.ts';
import { createTierLimitStore, type TierLimitStore, type TierOptions } from './tier-limit-store.ts';
import {
  ADMIT_SCRIPT,
  AMEND_SCRIPT,
  AUDIT_SCRIPT,
  COUNTED_SCRIPT,
  REGISTER_SCRIPT,
  SETTLE_SCRIPT,
  TOUCH_SCRIPT,
} from './valkey-scripts.ts';

export interface ValkeyLimitStoreOptions extends TierOptions {
  /**
   * `redis://[user:password@]host:port[/db]` or `rediss://…`; several, separated by commas, are nodes of one
   * cluster.
   */
  readonly url: string;
  /** Gateways with the same cell share their counters. */
  readonly cellId: string;
  readonly gatewayId: string;
  /**
   * Which of this gateway's lives this is: a whole number that grows with each start, such as the outbox's epoch. A
   * process that was killed and is heard late is known by its lower number. 0 unless told.
   */
  readonly life?: number;
  /**
   * A command without an answer for so long counts as lost, a connection after twice that; milliseconds, 500 unless
   * told.
   */
  readonly commandTimeoutMs?: number;
  /** Time in place of the server's; for tests. */
  readonly serverTime?: () => number;
}

interface Script {
  readonly source: string;
  readonly sha: string;
}

const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') });
const SCRIPTS = {
  admit: script(ADMIT_SCRIPT),
  settle: script(SETTLE_SCRIPT),
  touch: script(TOUCH_SCRIPT),
  register: script(REGISTER_SCRIPT),
  counted: script(COUNTED_SCRIPT),
  audit: script(AUDIT_SCRIPT),
  amend: script(AMEND_SCRIPT),
};

/** Loaded on first use: 8 MB of memory that a gateway with limits of its own has no need of. */
const loadIoredis = (): typeof Ioredis => createRequire(import.meta.url)('ioredis') as typeof Ioredis;

/** How a server answers where a script met a value that is not what it should be; the words of Redis 7 and Valkey 8. */
const BROKEN_KEYS = /^(WRONGTYPE|ERR (user_script|Error running script|hash value is not|value is not)|user_script)/;

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
  return pairs;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 3_000;

/**
 * The limit store of a cell with several gateways: counters in Valkey 8 or Redis 7, one node or a cluster, with a
 * local tier in front. Connects in the background; while it cannot, this gateway's share of the limits decides.
 *
 * @throws TypeError when the URL is not one of a Redis or Valkey server.
 */
export function createValkeyLimitStore(options: ValkeyLimitStoreOptions): TierLimitStore {
  return createTierLimitStore(connectAuthority(options), options);
}

/** The authority in a Valkey or Redis server. Throws as `createValkeyLimitStore` does. */
export function connectAuthority({
  url,
  cellId,
  gatewayId,
  life = 0,
  livenessMs = 10_000,
  commandTimeoutMs = 500,
  serverTime,
  random = Math.random,
}: ValkeyLimitStoreOptions): Authority {
  const self = `${gatewayId}.${randomUUID()}`;
  const prefix = `sluice:${cellId}:`;
  const retryStrategy = (tries: number): number =>
    FIRST_RETRY_MS + random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 10));
  const base: Ioredis.RedisOptions = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2 * commandTimeoutMs,
    enableOfflineQueue: false,
    // A repeated exchange is told again under its own number; a blind repetition would only delay the local share.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
  };
  const nodes = url.split(',').map((one) => one.trim());
  for (const node of nodes) {
    if (!/^(redis|rediss|valkey|valkeys):\/\//.test(node) || !URL.canParse(node))
      throw new TypeError(`'${node}' is not the URL of a Valkey server, such as redis://127.0.0.1:6379`);
  }
  const plain = nodes.map((node) => node.replace(/^valkey/, 'redis'));
  const { Cluster, Redis } = loadIoredis();
  const client =
    plain.length === 1
      ? new Redis(plain[0] as string, base)
      : new Cluster(plain, { redisOptions: base, enableOfflineQueue: false, clusterRetryStrategy: retryStrategy });

  const run = async (
    { source, sha }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> => {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(source, keys.length, ...keys, ...args);
    }
  };
  /** The same on the keys of one tenant: a script that breaks on them says nothing about the link. */
  const runOf = async (...args: Parameters<typeof run>): Promise<unknown> => {
    try {
      return await run(...args);
    } catch (error) {
      if (error instanceof Error && BROKEN_KEYS.test(error.message)) throw new TenantFault(error.message);
      throw error;
    }
  };
  const now = (): string => (serverTime === undefined ? '' : String(serverTime()));

  return {
    async exchange(which, tenantId, levelKeys, definitions, report) {
      const of = `${prefix}{${tenantId}}:`;
      const keys = [`${of}gws`, `${of}a:${self}`, ...levelKeys.map((key) => of + key)];
      return String(await runOf(SCRIPTS[which], keys, [now(), self, livenessMs, definitions, report, gatewayId]));
    },
    async counted(tenantId, levels) {
      const of = `${prefix}{${tenantId}}:`;
      const keys = [`${of}c:${gatewayId}`, ...levels.map(({ key }) => of + key)];
      const answers = await runOf(SCRIPTS.counted, keys, [
        self,
        ...levels.map(({ windows }) => JSON.stringify(windows)),
        life,
      ]);
      if (!Array.isArray(answers)) throw new Error('the limit store has seen a later process of this gateway already');
      return levels.map((_, i) => ({
        statement: String(answers[2 * i] ?? ''),
        known: [...String(answers[2 * i + 1] ?? '')].map((flag) => flag === '1'),
      }));
    },
    async audit(tenantId, levels) {
      const of = `${prefix}{${tenantId}}:`;
      const keys = [`${of}cs`, ...levels.map(({ key }) => of + key)];
      const answers = (await runOf(
        SCRIPTS.audit,
        keys,
        levels.map(({ windows }) => JSON.stringify(windows)),
      )) as [string, string[], string[][]][];
      return answers.map(([amended, statements, windows]) => ({
        amended: Number(amended),
        statements: pairsOf(statements),
        windows: windows.map((steps) =>
          pairsOf(steps)
            .map(([start, used]): [number, number] => [Number(start), Number(used)])
            .toSorted(([a], [b]) => a - b),
        ),
      }));
    },
    async amend(tenantId, key, { amended, windows }) {
      const args = windows.flatMap(({ quota, meter, cut, founded, deltas }) => [
        `${quota}:${meter}`,
        cut,
        founded ? 1 : 0,
        deltas.length,
        ...deltas.flat(),
      ]);
      return (await runOf(SCRIPTS.amend, [`${prefix}{${tenantId}}:${key}`], [amended, ...args])) === 1;
    },
    touch: async (tenantId) =>
      (await runOf(SCRIPTS.touch, [`${prefix}{${tenantId}}:gws`], [now(), self, livenessMs])) === 1,
    register: async (alive) =>
      Math.max(1, Number(await run(SCRIPTS.register, [`${prefix}gateways`], [now(), self, alive ? livenessMs : 0]))),
    get ready() {
      return client.status === 'ready';
    },
    watch(watcher) {
      let why = new Error('the connection to the limit store is closed');
      client.on('error', (error: Error) => {
        why = error;
      });
      client.on('ready', () => watcher.ready());
      client.on('close', () => watcher.lost(why));
    },
    reconnect: () => client.disconnect(true),
    close() {
      client.disconnect();
      return Promise.resolve();
    },
  };
}
