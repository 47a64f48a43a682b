import {
  BillingRequest,
  BillingView,
  CustomerOverride,
  PolicyView,
  ROLE_PERMISSIONS,
  StatementView,
  TenantBilling,
  TenantPolicy,
  TenantPolicyConflict,
  TenantStatement,
  PolicyConflict,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { statementCsv } from '../csv.ts';
import { projectBilling, projectStatement } from '../views/billing-view.ts';
import { projectOverride, projectPolicy } from '../views/policy-view.ts';
import { NoQuery, StatementQuery } from './query.ts';
import { missing, shown, type ScopedCall, type ScopedRoute } from './scoped-route.ts';

const mayBill = ({ principal, slug }: ScopedCall): boolean => {
  const role = principal.roles[slug];
  return role !== undefined && ROLE_PERMISSIONS[role].includes('billing:write');
};

/** A 412 without what the scope adds: title, status, request id. */
export type ConflictBody = Pick<PolicyConflict, 'base' | 'current' | 'yours' | 'conflicts'>;

export const SETTING_ROUTES: readonly ScopedRoute[] = [
  {
    method: 'get',
    path: '/api/policy',
    summary: 'The policy of a workspace, where each field comes from, and which of them the person may change',
    permission: 'policy:read',
    query: NoQuery,
    view: PolicyView,
    async answer(controlPlane, { scope }) {
      const found = await controlPlane.read(TenantPolicy, scope, '/policy');
      return found === undefined ? missing : shown(projectPolicy(found.value), found.etag);
    },
  },
  {
    method: 'put',
    path: '/api/policy',
    summary: 'Replaces what the workspace overrides; needs If-Match, 412 gives the base and both versions',
    permission: 'policy:write',
    query: NoQuery,
    body: CustomerOverride,
    view: PolicyView,
    conflict: PolicyConflict,
    async answer(controlPlane, { scope, body, ifMatch }) {
      const changed = await controlPlane.change(TenantPolicy, scope, { method: 'PUT', path: '/policy', body, ifMatch });
      if (changed.kind === 'missing') return missing;
      if (changed.kind === 'done') return shown(projectPolicy(changed.value), changed.etag);
      const { base, current, conflicts } = TenantPolicyConflict.parse(changed.body);
      const view: ConflictBody = {
        base: base === null ? null : { version: base.version, override: projectOverride(base.override) },
        current: projectPolicy(current),
        yours: projectOverride(body as CustomerOverride),
        conflicts: [...conflicts],
      };
      return { kind: 'conflict', view, etag: changed.etag };
    },
  },
  {
    method: 'get',
    path: '/api/billing',
    summary: 'This month, the hard cap of overage and a forecast',
    permission: 'billing:read',
    query: NoQuery,
    view: BillingView,
    async answer(controlPlane, call) {
      const found = await controlPlane.read(TenantBilling, call.scope, '/billing');
      return found === undefined ? missing : shown(projectBilling(found.value, mayBill(call)), found.etag);
    },
  },
  {
    method: 'put',
    path: '/api/billing',
    summary: 'Changes the hard cap of overage; needs If-Match',
    permission: 'billing:write',
    query: NoQuery,
    body: BillingRequest,
    view: BillingView,
    async answer(controlPlane, call) {
      const { scope, body, ifMatch } = call;
      const changed = await controlPlane.change(TenantBilling, scope, {
        method: 'PUT',
        path: '/billing',
        body,
        ifMatch,
      });
      if (changed.kind === 'missing') return missing;
      if (changed.kind === 'conflict')
        throw new ProblemError(412, 'Changed in the meantime', {
          detail: 'Read it again and repeat the change.',
          headers: changed.etag === undefined ? {} : { etag: changed.etag },
        });
      return shown(projectBilling(changed.value, mayBill(call)), changed.etag);
    },
  },
  {
    method: 'get',
    path: '/api/billing/statement',
    summary: 'The statement of a month (`month=2026-03`), as JSON or CSV',
    permission: 'billing:read',
    query: StatementQuery,
    view: StatementView,
    async answer(controlPlane, { scope, query }) {
      const { month, format } = query;
      if (month === undefined)
        throw new ProblemError(400, 'The query is not valid', {
          errors: [{ path: 'month', message: 'must be a month such as 2026-03' }],
        });
      const found = await controlPlane.read(TenantStatement, scope, '/billing/statement', { month });
      if (found === undefined) return missing;
      const view = StatementView.parse(projectStatement(found.value));
      return format === 'csv'
        ? { kind: 'csv', text: statementCsv(view), name: `statement-${view.tenant.id}-${view.month}.csv` }
        : shown(view);
    },
  },
];
