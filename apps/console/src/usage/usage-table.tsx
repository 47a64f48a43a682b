import type { UsageView } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import { utcDay } from '../parts/instant.tsx';
import { Money } from '../parts/money.tsx';
import { changeInWords } from './change.tsx';

type Group = UsageView['groups'][number];

/** One row per model, feature, key, end user or day, with its share and the time before. */
export function UsageTable({ data, title }: { data: UsageView; title: string }) {
  const { groups, totals, by } = data;
  const money = totals.billed_nanousd !== null;
  return (
    <div className="scroll-x">
      <table className="cards">
        <thead>
          <tr>
            <th>{title}</th>
            <th className="num">Calls</th>
            <th className="num">Input tokens</th>
            <th className="num">Output tokens</th>
            {money && <th className="num">Cost</th>}
            <th className="num">{money ? 'Cost before' : 'Calls before'}</th>
            <th className="num">Change</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => {
            const now = money ? group.billed_nanousd : group.calls;
            const before = group.previous === null ? 0 : money ? group.previous.billed_nanousd : group.previous.calls;
            return (
              <tr key={group.rest ? 'rest' : `is ${group.key}`}>
                <td>
                  <GroupName group={group} by={by} />
                  <Share now={now} total={money ? totals.billed_nanousd : totals.calls} />
                </td>
                <td className="num" data-label="Calls">
                  {formatCount(group.calls)}
                </td>
                <td className="num" data-label="Input tokens">
                  {formatCount(group.input_tokens)}
                </td>
                <td className="num" data-label="Output tokens">
                  {formatCount(group.output_tokens)}
                </td>
                {money && (
                  <td className="num" data-label="Cost">
                    <Money nano={group.billed_nanousd} />
                  </td>
                )}
                <td className="num muted" data-label="Before">
                  {money ? <Money nano={before} /> : formatCount(before ?? 0)}
                </td>
                <td className="num" data-label="Change">
                  {changeInWords(now ?? 0, before ?? 0)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function GroupName({ group, by }: { group: Group; by: UsageView['by'] }) {
  if (group.rest) return <em>all others</em>;
  if (group.key === null)
    return (
      <span className="muted">
        {by === 'feature' ? 'no feature named' : by === 'end_user' ? 'no end user named' : 'not known'}
      </span>
    );
  if (by === 'day')
    return (
      <time dateTime={group.key} title={group.key}>
        {utcDay(group.key)}
      </time>
    );
  if (by === 'key')
    return group.name === null ? (
      <>
        <code>{group.key}</code> <span className="muted">(revoked)</span>
      </>
    ) : (
      <>
        <span>{group.name}</span> <code className="muted">{group.key}</code>
      </>
    );
  return <span className="break">{group.key}</span>;
}

function Share({ now, total }: { now: number | null; total: number | null }) {
  if (now === null || total === null || total === 0) return null;
  return (
    <span className="share" aria-hidden="true">
      <i style={{ width: `${(now / total) * 100}%` }} />
    </span>
  );
}
