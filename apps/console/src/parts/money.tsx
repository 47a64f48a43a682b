import { nanoUsdToDecimal } from '@sluice/contracts';

/** Dollars for reading: two digits, or as many as a small amount needs to be seen. */
export function dollars(nanoUsd: number): string {
  const value = nanoUsd / 1e9;
  const size = Math.abs(value);
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  const text = Math.abs(value).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: digits });
  return `${value < 0 ? '−' : ''}$${text}`;
}

/** The exact amount: `$0.002514 USD`. */
export function exactDollars(nanoUsd: number): string {
  return `${nanoUsdToDecimal(nanoUsd)} USD`;
}

/** An amount, exact on hover; a dash for a role that may not see money. */
export function Money({ nano }: { nano: number | null }) {
  if (nano === null)
    return (
      <span className="muted" title="Your role does not include costs in this workspace (permission cost:read).">
        –
      </span>
    );
  return (
    <data value={nanoUsdToDecimal(nano)} title={exactDollars(nano)}>
      {dollars(nano)}
    </data>
  );
}
