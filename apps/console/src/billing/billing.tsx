import { useQuery } from '@tanstack/react-query';
import { formatCount, Meter } from '@sluice/ui';
import type { BillingView, Permission } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Instant, utcMonth } from '../parts/instant.tsx';
import { Loaded } from '../parts/load-state.tsx';
import { dollars, Money } from '../parts/money.tsx';
import { Figure, PageHead, Panel } from '../parts/page.tsx';
import type { PageProps } from '../shell/page-props.ts';
import { CapForm } from './cap-form.tsx';
import { StatementTable } from './statement-table.tsx';

/** What the month costs so far and will cost, the cap on it, and the statements. */
export function Billing({ slug, permissions }: PageProps) {
  const billing = useQuery({
    queryKey: ['billing', slug],
    queryFn: () => consoleApi.billing(slug),
    refetchInterval: 60_000,
  });
  return (
    <>
      <PageHead title="Billing">One bill for all workspaces of your company.</PageHead>
      <Loaded query={billing} rows={8}>
        {(data) => <BillingPanels slug={slug} data={data} permissions={permissions} />}
      </Loaded>
    </>
  );
}

function BillingPanels({
  slug,
  data,
  permissions,
}: {
  slug: string;
  data: BillingView;
  permissions: readonly Permission[];
}) {
  const { plan, statement, forecast } = data;
  const over = statement.used_tokens > statement.allotment_tokens;
  return (
    <>
      <section className="figure-strip" aria-label="This month">
        <dl className="figures">
          <Figure name="due so far this month" note={monthInWords(statement.month)}>
            <Money nano={statement.total_nanousd} />
          </Figure>
          <Figure
            name="expected at its end"
            note={
              forecast === null ? (
                'too early to tell'
              ) : forecast.total_nanousd.low === forecast.total_nanousd.high ? undefined : (
                <>
                  between <Money nano={forecast.total_nanousd.low} /> and <Money nano={forecast.total_nanousd.high} />
                </>
              )
            }
          >
            {forecast === null ? '–' : <Money nano={forecast.total_nanousd.expected} />}
          </Figure>
          <Figure name="overage so far" note={`${formatCount(statement.overage_tokens)} tokens`}>
            <Money nano={statement.overage_nanousd} />
          </Figure>
          <Figure
            name="plan"
            note={
              <>
                <Money nano={plan.fee_nanousd} /> a month
              </>
            }
          >
            {plan.name}
          </Figure>
        </dl>
      </section>
      <div className="columns">
        <Panel
          title="Included tokens"
          note={`Of ${monthInWords(statement.month)}, in the time zone ${statement.time_zone}.`}
        >
          <div className="stack">
            <Meter
              label="Included tokens used"
              value={statement.used_tokens}
              max={statement.allotment_tokens}
              badAt={1}
              text={
                statement.allotment_tokens === 0
                  ? 'none included'
                  : `${Math.floor((statement.used_tokens / statement.allotment_tokens) * 100)} %`
              }
            />
            <p className="num">
              {formatCount(statement.used_tokens)} of {formatCount(statement.allotment_tokens)} tokens used.
            </p>
            <p className="muted">{afterwards(data, over)}</p>
            {forecast !== null && (
              <p className="muted num">
                Expected by the end: {formatCount(forecast.tokens.expected)} tokens (between{' '}
                {formatCount(forecast.tokens.low)} and {formatCount(forecast.tokens.high)}). {forecast.method}
              </p>
            )}
          </div>
        </Panel>
        <Panel
          title="Cap on overage"
          note="The most that can be added to the plan’s fee in a month. When it is reached, calls are refused until the month ends or the cap is raised."
        >
          {forecast?.cap_reached_at && (
            <p className="notice warn">
              As it goes now, the cap is reached <Instant at={forecast.cap_reached_at} />.
            </p>
          )}
          <CapForm key={data.version} slug={slug} data={data} mayWrite={permissions.includes('billing:write')} />
        </Panel>
      </div>
      <Panel
        title={`Statement of ${monthInWords(statement.month)}`}
        note={statement.closed ? 'Closed.' : 'So far; the month is not over.'}
      >
        <StatementTable statement={statement} />
      </Panel>
      <Panel title="Statements">
        <Months slug={slug} months={data.months} />
      </Panel>
    </>
  );
}

function afterwards({ plan, overage_cap }: BillingView, over: boolean): string {
  const price = plan.overage_picousd_per_token;
  if (price === null)
    return over
      ? 'The allotment is used up, and the plan sells no further tokens.'
      : 'When they are used up, calls are refused: the plan sells no further tokens.';
  const perMillion = dollars(price * 1000);
  const cap = overage_cap.nanousd === null ? 'without a cap' : `up to a cap of ${dollars(overage_cap.nanousd)}`;
  return `${over ? 'Further tokens are overage: they cost' : 'After that comes overage: further tokens cost'} ${perMillion} a million, ${cap}.`;
}

function Months({ slug, months }: { slug: string; months: readonly string[] }) {
  if (months.length === 0) return <p className="muted">The first statement is made when the month is over.</p>;
  return (
    <table className="cards">
      <thead>
        <tr>
          <th>Month</th>
          <th>Download</th>
        </tr>
      </thead>
      <tbody>
        {months.map((month) => (
          <tr key={month}>
            <td>{monthInWords(month)}</td>
            <td data-label="Download">
              <span className="row">
                <a
                  href={consoleApi.statementUrl(slug, month, 'csv')}
                  download
                  aria-label={`Statement of ${monthInWords(month)} as CSV`}
                >
                  CSV
                </a>
                <a
                  href={consoleApi.statementUrl(slug, month, 'json')}
                  download
                  aria-label={`Statement of ${monthInWords(month)} as JSON`}
                >
                  JSON
                </a>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `2026-03` in words. */
export function monthInWords(month: string): string {
  return utcMonth(`${month}-01T00:00:00.000Z`);
}
