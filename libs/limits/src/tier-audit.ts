import type { AuditedLevel, LevelAmendment, LevelRef } from '@sluice/contracts';
import type { Authority } from './authority.ts';
import { auditOf, unfoundedOf } from './level-audit.ts';
import { runsOfStatement } from './settled-track.ts';
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
        const held = await authority.audit(
          tenant.id,
          of.map(({ key, windows }) => ({ key, windows: windows.map(({ definition }) => windowName(definition)) })),
        );
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
            windows: here.windows.map((window, at) => ({ ...window, steps: there.windows[at] ?? [] })),
          });
        }
      }
      return audited;
    },
    async amend(pairs) {
      const made: LevelRef[] = [];
      for (const [amendment, level] of pairs) {
        if (!(await authority.amend(level.tenant.id, level.key, amendment))) continue;
        made.push(amendment);
        await level.tenant.look([level]);
      }
      return made;
    },
  };
}
