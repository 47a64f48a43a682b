import { formatCount } from '@sluice/ui';
import type { StatementView } from '@sluice/contracts';
import { Instant } from '../parts/instant.tsx';
import { dollars, Money } from '../parts/money.tsx';

/** How the sum comes about, line by line. */
export function StatementTable({ statement }: { statement: StatementView }) {
  const { segments, usage } = statement;
  const several = segments.length > 1;
  return (
    <div className="stack">
      <div className="scroll-x">
        <table>
          <thead>
            <tr>
              <th>What</th>
              <th>How much</th>
              <th className="num">Amount</th>
            </tr>
          </thead>
          <tbody>
            {segments.map((segment) => (
              <tr key={`fee ${segment.from}`}>
                <td>
                  Plan {segment.plan_name}
                  {several && (
                    <span className="muted">
                      , <Instant at={segment.from} dayOnly /> to <Instant at={segment.to} dayOnly />
                    </span>
                  )}
                </td>
                <td className="num-left">
                  {formatCount(segment.allotment_tokens)} tokens included
                  {several && (
                    <span className="muted"> of {formatCount(segment.monthly_allotment_tokens)} a month</span>
                  )}
                </td>
                <td className="num">
                  <Money nano={segment.fee_nanousd} />
                </td>
              </tr>
            ))}
            {segments
              .filter(({ overage_tokens }) => overage_tokens > 0)
              .map((segment) => (
                <tr key={`overage ${segment.from}`}>
                  <td>Overage{several && <span className="muted"> on {segment.plan_name}</span>}</td>
                  <td>
                    {formatCount(segment.overage_tokens)} tokens
                    {segment.overage_picousd_per_token !== null && (
                      <span className="muted"> at {dollars(segment.overage_picousd_per_token * 1000)} a million</span>
                    )}
                  </td>
                  <td className="num">
                    <Money nano={segment.overage_nanousd} />
                  </td>
                </tr>
              ))}
            {statement.waived_nanousd > 0 && (
              <tr>
                <td>Above the cap, not charged</td>
                <td />
                <td className="num">
                  <Money nano={-statement.waived_nanousd} />
                </td>
              </tr>
            )}
            {statement.credits_nanousd !== 0 && (
              <tr>
                <td>Corrections</td>
                <td />
                <td className="num">
                  <Money nano={statement.credits_nanousd} />
                </td>
              </tr>
            )}
            <tr className="total">
              <td>Total</td>
              <td />
              <td className="num">
                <Money nano={statement.total_nanousd} />
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      {usage.length > 0 && (
        <details className="as-table">
          <summary>Tokens by model</summary>
          <div className="scroll-x">
            <table>
              <thead>
                <tr>
                  <th>Model</th>
                  <th className="num">Calls</th>
                  <th className="num">Tokens</th>
                  <th className="num">Worth by the price list</th>
                </tr>
              </thead>
              <tbody>
                {usage.map((row) => (
                  <tr key={row.model}>
                    <td>{row.model ?? '–'}</td>
                    <td className="num">{formatCount(row.calls)}</td>
                    <td className="num">{formatCount(row.tokens)}</td>
                    <td className="num">
                      <Money nano={row.value_nanousd} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className="muted">The worth is for information. The bill counts tokens.</p>
        </details>
      )}
    </div>
  );
}
