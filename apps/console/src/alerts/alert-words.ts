import type { AlertsView } from '@sluice/contracts';

export type AlertKind = AlertsView['rows'][number]['kind'];

/** What each kind of alert tells of. */
export const ALERT_WORDS: Readonly<Record<AlertKind, string>> = {
  'budget.80': 'A quota is used to 80 %',
  'budget.100': 'A quota is used up',
  'quota.low': 'A quota will not last: under 20 % left with more than half of its time to go',
  'overage_cap.80': 'Overage is at 80 % of its cap',
  'overage_cap.100': 'Overage has reached its cap',
  kill_switch: 'The operator has switched something off',
  'key.expiring': 'An API key expires soon',
  'model.retiring': 'A model in use is going to be retired',
  'refusals.throttled': 'Many calls are refused by a rate limit',
  'refusals.shed': 'Many calls are refused because too many run at once',
  'refusals.quota': 'Calls are refused because a quota is used up',
  'webhook.test': 'A test of a webhook',
};

export const ALERT_KINDS = Object.keys(ALERT_WORDS) as AlertKind[];
