import type { OverviewView } from '@sluice/contracts';
import { Badge, formatCount, Meter } from '@sluice/ui';
import { Instant } from '../parts/instant.tsx';
import { dollars } from '../parts/money.tsx';
import { amountOf } from './limits-in-words.ts';

type Quota = OverviewView['quotas'][number];

/** How full each quota is, the fullest first. */
export function QuotaMeters({ quotas }: { quotas: readonly Quota[] }) {
  if (quotas.length === 0) return <p className="muted">No quota limits this workspace.</p>;
  const sorted = quotas.toSorted((a, b) => shareOf(b) - shareOf(a));
  return (
    <div className="stack">
      {sorted.map((quota) => (
        <QuotaMeter key={`${quota.level} ${quota.id}`} quota={quota} />
      ))}
    </div>
  );
}

function QuotaMeter({ quota }: { quota: Quota }) {
  const { id, level, meter, span, mode, limit, used, resets_at } = quota;
  const percent = Math.floor(shareOf(quota) * 100);
  const short = (value: number): string => (meter === 'cost_nanousd' ? dollars(value) : formatCount(value));
  return (
    <div className="quota">
      <div className="quota-head">
        <strong>{quotaName(id)}</strong>
        <span className="muted">{level === 'tenant' ? 'all workspaces together' : 'this workspace'}</span>
        {used >= limit && (
          <Badge tone={mode === 'hard' ? 'bad' : 'warn'}>
            {mode === 'hard' ? 'used up: calls are refused' : 'over: only a warning'}
          </Badge>
        )}
      </div>
      <Meter
        label={`${quotaName(id)}, ${level === 'tenant' ? 'all workspaces together' : 'this workspace'}`}
        value={used}
        max={limit}
        text={`${percent} %`}
      />
      <div className="quota-foot muted">
        <span className="num">
          {short(used)} of {amountOf(meter, limit)}, {span}
        </span>
        <span>
          {resets_at === null ? (
            'frees up bit by bit'
          ) : (
            <>
              begins anew <Instant at={resets_at} />
            </>
          )}
        </span>
      </div>
    </div>
  );
}

/** The name that a quota has on this page: `overage-cap` is `Overage cap`. */
function quotaName(id: string): string {
  const words = id.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function shareOf({ used, limit }: Quota): number {
  return limit === 0 ? 1 : used / limit;
}
