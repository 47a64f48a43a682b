import { estimateErrors } from './estimate-errors.ts';

it('shows each workspace of each gateway with both errors', () => {
  const estimates = [{ workspace: 'acme-prod', calls: 224, uncalibrated_percent: 31.25, calibrated_percent: 2 }];
  expect(estimateErrors({ at: 'now', gateways: [{ gateway_id: 'gw-1', estimates, live: true }] }).slice(1)).toEqual([
    ['gw-1', 'acme-prod', '224', '31.3 %', '2.0 %'],
  ]);
});
