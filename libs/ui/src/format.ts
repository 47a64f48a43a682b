/** A whole number with thousands separated. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** A duration as people say it: `340 ms`, `4.2 s`, `3 min`, `5 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** Bytes in the unit that reads best: `512 B`, `14.2 kB`, `118 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${Math.round(bytes / 1_000_000)} MB`;
}

/** Nanodollars as dollars with enough digits to see small amounts. */
export function formatNanoUsd(nanoUsd: number): string {
  const dollars = nanoUsd / 1e9;
  if (dollars !== 0 && Math.abs(dollars) < 0.001) return `$${dollars.toFixed(9).replace(/0{1,6}$/, '')}`;
  const digits = dollars !== 0 && Math.abs(dollars) < 1 ? 4 : 2;
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/**
 * The price of one call, for a column of them: always six digits after the point, so that amounts can be compared
 * by eye.
 */
export function formatCallUsd(nanoUsd: number): string {
  if (nanoUsd !== 0 && Math.abs(nanoUsd) < 500) return 'under $0.000001';
  return `${nanoUsd < 0 ? '−' : ''}$${Math.abs(nanoUsd / 1e9).toFixed(6)}`;
}

/** A price in picodollars per token as people know it: `$3.00`, for a million tokens. */
export function formatPerMillion(picoUsdPerToken: number): string {
  const dollars = picoUsdPerToken / 1e6;
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;
}
