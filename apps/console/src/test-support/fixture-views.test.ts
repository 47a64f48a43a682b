import {
  AlertsView,
  BillingView,
  DeliveriesView,
  KeysView,
  MembersView,
  ModelsView,
  OverviewView,
  PolicyView,
  RequestsView,
  RequestView,
  SeriesView,
  SessionsView,
  SessionView,
  UsageBy,
  UsageView,
  WebhooksView,
} from '@sluice/contracts';
import * as fixtures from './fixture-views.ts';

it('what tests show is what the backend may answer', () => {
  SessionView.parse(fixtures.SESSION);
  SessionsView.parse(fixtures.SESSIONS);
  OverviewView.parse(fixtures.OVERVIEW);
  for (const by of UsageBy.options) UsageView.parse(fixtures.usageOf(by));
  for (const metric of ['calls', 'failures', 'latency_ms'] as const) SeriesView.parse(fixtures.seriesOf(metric));
  RequestsView.parse({ rows: fixtures.REQUESTS, next_cursor: null });
  RequestView.parse(fixtures.REQUEST);
  ModelsView.parse(fixtures.MODELS);
  KeysView.parse(fixtures.KEYS);
  expect(PolicyView.parse(fixtures.policyOf({ limits: { requests: { perSecond: 20, burst: 40 } } }, 7)).version).toBe(
    7,
  );
  MembersView.parse(fixtures.MEMBERS);
  BillingView.parse(fixtures.BILLING);
  AlertsView.parse(fixtures.ALERTS);
  WebhooksView.parse(fixtures.WEBHOOKS);
  DeliveriesView.parse(fixtures.DELIVERIES);
});
