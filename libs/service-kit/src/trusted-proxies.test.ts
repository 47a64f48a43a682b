import { TrustedProxies } from './trusted-proxies.ts';

describe('trusted proxies', () => {
  it('are none unless they are named', () => {
    expect(TrustedProxies.parse(undefined)).toEqual([]);
    expect(TrustedProxies.parse('10.0.0.0/8, ::1,loopback')).toEqual(['10.0.0.0/8', '::1', 'loopback']);
  });

  it.each(['everybody', '10.0.0.0/33', '10.0.0.1/8/8', '::1/129', '1'])(
    'are refused as %s, with what would be right',
    (text) => {
      expect(TrustedProxies.safeParse(text).error?.issues[0]?.message).toContain('10.0.0.0/8');
    },
  );
});
