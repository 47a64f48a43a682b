import type { BreakerChange } from '@sluice/resilience';
import { breakerAnomaly } from './upstream-anomalies.ts';

const change = (from: BreakerChange['from'], to: BreakerChange['to'], more: Partial<BreakerChange> = {}) =>
  breakerAnomaly({
    provider: 'primary',
    model: 'sim-small',
    from,
    to,
    tenants: 4,
    tenantsOpen: 1,
    openFor: ['initech'],
    ...more,
  });
const all = { tenants: 14, tenantsOpen: 14, openFor: ['a', 'b', 'c', 'd', 'e'] };

describe('what people are told of a breaker', () => {
  it('is that the provider is down, when it is open for most of the tenants, with their number', () => {
    expect(change('closed', 'open', all)).toMatchObject({
      type: 'breaker.opened',
      subject: 'primary/sim-small',
      message: 'primary fails for sim-small: its breaker is open for 14 of 14 tenants, and other providers are used.',
    });
    expect(change('partly_open', 'open', all)?.type).toBe('breaker.opened');
  });

  it('is no more than whose calls fail, by name, when it is open for one of several', () => {
    expect(change('closed', 'partly_open')).toMatchObject({
      type: 'breaker.partly_opened',
      message: expect.stringContaining('its breaker is open for 1 of 4 tenants (initech)') as string,
    });
  });

  it('is that the provider is well again when it closes for the others, and for whom it does not', () => {
    expect(change('half_open', 'partly_open')).toMatchObject({
      type: 'breaker.closed',
      message: 'primary is well again for sim-small: its breaker is still open for 1 of 4 tenants (initech).',
    });
    expect(change('partly_open', 'closed', { tenantsOpen: 0, openFor: [] })?.type).toBe('breaker.closed');
  });

  it('is nothing of probes that begin or fail while it is down', () => {
    expect(change('open', 'half_open', all)).toBeUndefined();
    expect(change('half_open', 'open', all)).toBeUndefined();
  });

  it('names the gateway’s own probes where no tenant has called', () => {
    expect(change('closed', 'open', { tenants: 0, tenantsOpen: 0, openFor: [] })?.message).toContain(
      'open for our own probes',
    );
  });
});
