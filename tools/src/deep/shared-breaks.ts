import type { IsolationBreak } from './isolation-breaks.ts';

const RESILIENCE = 'libs/resilience/src';
const LIMITS = 'libs/limits/src';
const GATEWAY = 'apps/gateway/src';

/** Breaks of the rule that what is shared is judged and filled party by party (ADR 0019). */
export const SHARED_BREAKS: readonly IsolationBreak[] = [
  {
    name: 'the failures of others open the breaker of a tenant that is served',
    edits: [
      {
        file: `${RESILIENCE}/breaker.ts`,
        find: 'if (!cold || !warned()) return new Pass(heard, row, parties.bornOf(row), undefined, cold);',
        put: 'if (!warned()) return new Pass(heard, row, parties.bornOf(row), undefined, cold);',
      },
      {
        file: `${RESILIENCE}/breaker.ts`,
        find: 'if (known !== NONE && parties.kindOf(known) === KIND.closed && !parties.isCold(known, parties.latestMs))',
        put: 'if (known === Infinity)',
      },
    ],
    project: 'resilience',
    tests: 'breaker-parties.test',
  },
  {
    name: 'the breaker takes all tenants for one party',
    edits: [
      {
        file: `${RESILIENCE}/breaker.ts`,
        find: '    tryEnter(party) {\n',
        put: "    tryEnter(each) {\n      const party = each === OWN_PARTY ? each : 'all';\n",
      },
    ],
    project: 'resilience',
    tests: 'breaker-parties.test',
  },
  {
    name: 'half-open tenants share the places for probes',
    edits: [
      {
        file: `${RESILIENCE}/breaker.ts`,
        find: 'if (out.size + succeeded >= options.probes) return undefined;',
        put: 'if ([...parties.probes.values()].reduce((sum, p) => sum + p.out.size, succeeded) >= options.probes) return undefined;',
      },
    ],
    project: 'resilience',
    tests: 'breaker-parties.test',
  },
  {
    name: 'one failing tenant is enough to make those without evidence careful',
    edits: [{ file: `${RESILIENCE}/breaker.ts`, find: 'const CAREFUL_FROM = 2;', put: 'const CAREFUL_FROM = 1;' }],
    project: 'resilience',
    tests: 'breaker-parties.test',
  },
  {
    name: 'the rate limit of one tenant rests the model for all',
    edits: [
      {
        file: `${RESILIENCE}/account-standing.ts`,
        find: "reach === 'model' || isSecond(before, use, now - suspicionMs)",
        put: "reach === 'model' || before === undefined || isSecond(before, use, now - suspicionMs)",
      },
    ],
    project: 'resilience',
    tests: 'account.test',
  },
  {
    name: 'a 403 for one tenant refuses the account for all',
    edits: [
      {
        file: `${RESILIENCE}/account-standing.ts`,
        find: 'status >= 400 && status !== 403,',
        put: 'status >= 400,',
      },
    ],
    project: 'resilience',
    tests: 'account.test',
  },
  {
    name: 'the tenant that was rate-limited does not wait as long as it was told',
    edits: [
      {
        file: `${RESILIENCE}/account-standing.ts`,
        find: 'Math.min(retryAfterMs ?? coolingMs, maxCoolingMs)',
        put: 'Math.min(coolingMs, maxCoolingMs)',
      },
    ],
    project: 'resilience',
    tests: 'account.test',
  },
  {
    name: 'the provider’s retry budget is for whoever comes first',
    edits: [
      {
        file: `${RESILIENCE}/retry-budget.ts`,
        find: 'if (made >= tenants.own(tenantId) && (made >= tenantMinimum || left <= tenants.unused)) return false;',
        put: 'if (made < 0) return false;',
      },
    ],
    project: 'resilience',
    tests: 'retry-budget.test',
  },
  {
    name: 'a tenant has no retries of its own',
    edits: [
      {
        file: `${RESILIENCE}/tenant-retries.ts`,
        find: 'return Math.floor((use.requests * this.#percent) / 100);',
        put: 'return Math.floor((use.requests * 0 * this.#percent) / 100);',
      },
    ],
    project: 'resilience',
    tests: 'retry-budget.test',
  },
  {
    name: 'reserved slots are given to every priority',
    edits: [
      {
        file: `${LIMITS}/slot-pool.ts`,
        find: ': slots - Math.max(0, reserved.slots - reservedInUse());',
        put: ': slots;',
      },
    ],
    project: 'limits',
    tests: 'slot-pool.test',
  },
  {
    name: 'one tenant may hold every slot of an account',
    edits: [
      {
        file: `${LIMITS}/slot-pool.ts`,
        find: 'Math.max(1, Math.floor((slots * maxSharePercent) / 100));',
        put: 'Math.max(slots, Math.floor((slots * maxSharePercent) / 100));',
      },
    ],
    project: 'limits',
    tests: 'slot-pool.test',
  },
  {
    name: 'the fair queue knows no tenants',
    edits: [
      {
        file: `${LIMITS}/fair-queue.ts`,
        find: 'childOf(childOf(childOf(root, entry.tenantId), entry.workspaceId), entry.priority)',
        put: "childOf(childOf(childOf(root, ''), ''), entry.priority)",
      },
    ],
    project: 'limits',
    tests: 'fair-queue.test',
  },
  {
    name: 'a script error about one tenant degrades the limits of all',
    edits: [
      {
        file: `${LIMITS}/tier-tenant.ts`,
        find: 'if (error instanceof TenantFault) this.degrade(error);',
        put: 'if (error instanceof TenantFault && error.message === this.id) this.degrade(error);',
      },
    ],
    project: 'limits',
    tests: 'valkey-limit-store-faults.test',
  },
  {
    name: 'what an account was told about one model holds back every model',
    edits: [{ file: `${GATEWAY}/upstream/account-rates.ts`, find: 'all: allMs > 0 }', put: 'all: true }' }],
    project: 'gateway',
    tests: 'upstream/account-rates.test',
  },
  {
    name: 'the large bodies of one tenant may have all threads',
    edits: [{ file: `${GATEWAY}/bodies/body-pool.ts`, find: 'Math.max(1, count - 1);', put: 'Math.max(1, count);' }],
    project: 'gateway',
    tests: 'bodies/body-pool.test',
  },
  {
    name: 'the memory of all bodies together has no hard bound',
    edits: [
      {
        file: `${GATEWAY}/stages/read-body/body-memory.ts`,
        find: '(full && now > held) || total + bytes > hardBytes',
        put: 'full && now > held && hardBytes > 0',
      },
    ],
    project: 'gateway',
    tests: 'stages/read-body',
  },
  {
    name: 'calls begin in the order in which they came, not by tenant',
    edits: [
      {
        file: `${GATEWAY}/stages/read-body/start-turns.ts`,
        find: '    turn(tenantId, bytes, nowMs, cancel) {\n',
        put: '    turn(each, bytes, nowMs, cancel) {\n      const tenantId = each.slice(0, 0);\n',
      },
    ],
    project: 'gateway',
    tests: 'read-body/start-turns.test',
  },
  {
    name: 'the outbox may be filled by one tenant',
    edits: [
      {
        file: 'libs/events/src/outbox/tenant-shares.ts',
        find: '>= shareBytes && dedicatedTo()',
        put: '>= shareBytes * 1e9 && dedicatedTo()',
      },
    ],
    project: 'events',
    tests: 'outbox/outbox-bounds.test',
  },
  {
    name: 'one party may take every place',
    edits: [
      {
        file: 'libs/service-kit/src/party-places.ts',
        find: 'if ((taken.get(party) ?? 0) >= ofOne) continue;',
        put: 'if ((taken.get(party) ?? 0) >= places + ofOne) continue;',
      },
    ],
    project: 'service-kit',
    tests: 'party-shares.test',
  },
  {
    name: 'the rate of one party is used up by all',
    edits: [
      {
        file: 'libs/service-kit/src/party-rates.ts',
        find: '    take(party, units = 1) {\n',
        put: '    take(each, units = 1) {\n      const party = each.slice(0, 0);\n',
      },
    ],
    project: 'service-kit',
    tests: 'party-shares.test',
  },
  {
    name: 'the backend asks without a share for each person and workspace',
    edits: [
      {
        file: 'apps/console-bff/src/read-shares.ts',
        find: 'const waitMs = workspaces.take(slug);',
        put: 'const waitMs = workspaces.take(slug) * 0;',
      },
    ],
    project: 'console-bff',
    tests: 'read-shares.test',
  },
  {
    name: 'the count of a provider is believed, whatever was sent',
    edits: [
      {
        file: `${GATEWAY}/metering/plausible.ts`,
        find: 'const badInput = inputTokens(usage) > mostInput(',
        put: 'const badInput = 0 > mostInput(',
      },
    ],
    project: 'gateway',
    tests: 'metering/plausible.test',
  },
  {
    name: 'padded bytes count nothing',
    edits: [
      {
        file: `${GATEWAY}/metering/estimator.ts`,
        find: 'return Math.floor(text / FLOOR_BYTES_PER_TOKEN + payloads.bytes',
        put: 'return Math.floor(0 * text + 0 * payloads.bytes',
      },
    ],
    project: 'gateway',
    tests: 'bodies/payloads.test',
  },
  {
    name: 'the text of a call that was given up counts only what earlier calls have taught',
    edits: [
      {
        file: `${GATEWAY}/metering/estimated-input.ts`,
        find: 'return Math.max(expected, textTokens(body));',
        put: 'return Math.max(expected, 0 * textTokens(body));',
      },
    ],
    project: 'gateway',
    tests: 'metering/estimated-input.test',
  },
];
