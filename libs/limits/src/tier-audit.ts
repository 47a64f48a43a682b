import type { AuditedLevel, LevelAmendment, LevelRef } from '@sluice/contracts';
import type { Authority } from './authority.ts';
import { auditOf, unfoundedOf } from './level-audit.ts';
import type { QuotaState } from './level-state.ts';
import { runsOfStatement } from './settled-track.ts';
import { TenantFault } from './tenant-fault.ts';
import { windowName, type TierLevel } from './tier-level.ts';
import type { TierTenant } from './tier-tenant.ts';

type TenantLevel = TierLevel<TierTenant>;

/** Audits of counters that the authority keeps. */
export interface TierAudit {
  /** The levels with a window whose past is not known to the authority; asks it where this gateway does not know. */
  unfounded(levels: readonly TenantLevel[], tenant: TierTenant): readonly LevelRef[] | Promise<readonly LevelRef[]>;
  audit(levels: readonly TenantLevel[]): Promise<readonly AuditedLevel[]>;
  amend(pairs: readonly (readonly [LevelAmendment, TenantLevel])[]): Promise<readonly LevelRef[]>;
}

const NONE: readonly never[] = [];

/** What the authority answers about one tenant; undefined when its part is broken, which says nothing of the others. */
async function ofTenant<T>(tenant: TierTenant, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof TenantFault)) throw error;
    tenant.degrade(error);
    return undefined;
  }
}

export function createTierAudit(authority: Pick<Authority, 'audit' | 'amend'>, now: () => number): TierAudit {
  return {
    unfounded(levels, tenant) {
      if (!tenant.online || !levels.some(({ unfounded }) => unfounded)) return NONE;
      return tenant.look(levels).then(() => (tenant.online ? unfoundedOf(levels) : NONE));
    },
    async audit(levels) {
      const audited: AuditedLevel[] = [];
      for (const [tenant, of] of Map.groupBy(levels, (level) => level.tenant)) {
        // The authority's cut of each window is this one's from then on, and what was used here is reported.
        if (tenant.online) await tenant.look(of);
        if (!tenant.online) continue;
        const asked = of.map(({ windows }) => windows);
        const held = await ofTenant(tenant, () =>
          authority.audit(
            tenant.id,
            of.map(({ key, windows }) => ({ key, windows: windows.map(({ definition }) => windowName(definition)) })),
          ),
        );
        if (held === undefined) continue;
        for (const [i, level] of of.entries()) {
          const there = held[i];
          if (there === undefined) continue;
          const here = auditOf(level, now());
          audited.push({
            ...here,
            amended: there.amended,
            counted: there.statements.flatMap(([gatewayId, statement]) => {
              const runs = runsOfStatement(statement);
              return runs === undefined ? [] : [{ gatewayId, ...runs }];
            }),
            // Windows that came in force meanwhile were not asked for.
            windows: here.windows.flatMap((window, at) => {
              const steps = there.windows[asked[i]?.indexOf(level.windows[at] as QuotaState) ?? -1];
              return steps === undefined ? [] : [{ ...window, steps }];
            }),
          });
        }
      }
      return audited;
    },
    async amend(pairs) {
      const made: LevelRef[] = [];
      for (const [amendment, level] of pairs) {
        const { tenant, key } = level;
        if ((await ofTenant(tenant, () => authority.amend(tenant.id, key, amendment))) !== true) continue;
        made.push(amendment);
        await tenant.look([level]);
      }
      return made;
    },
  };
}
