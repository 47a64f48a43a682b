import { formatBytes, formatCallUsd, formatCount, formatDuration, formatNanoUsd, formatPerMillion } from './format.ts';

describe('figures for people', () => {
  it('are in the unit that reads best', () => {
    expect([0, 999, 4200, 180_000, 7_200_000].map(formatDuration)).toEqual(['0 ms', '999 ms', '4.2 s', '3 min', '2 h']);
    expect([512, 14_200, 118_000_000].map(formatBytes)).toEqual(['512 B', '14.2 kB', '118 MB']);
    expect(formatCount(1234567)).toBe('1,234,567');
    expect([0, 1_200_000, 2_012_340_000_000, 4_100, 7, -900_000].map(formatNanoUsd)).toEqual([
      '$0.00',
      '$0.0012',
      '$2,012.34',
      '$0.0000041',
      '$0.000000007',
      '$-0.0009',
    ]);
  });

  it('of one column have the same digits, and what is too small to be seen is said to be so', () => {
    expect([1_207_000, 201_400, 0, 400, -1_000_000].map(formatCallUsd)).toEqual([
      '$0.001207',
      '$0.000201',
      '$0.000000',
      'under $0.000001',
      '−$0.001000',
    ]);
  });

  it('of prices are for a million tokens', () => {
    expect([3_000_000, 150_000, 1_234].map(formatPerMillion)).toEqual(['$3.00', '$0.15', '$0.001234']);
  });
});
