import type { StorageAnswer } from '@sluice/contracts';
import { formatBytes, formatCount } from '@sluice/ui';

const day = (at: string): string => new Date(at).toLocaleDateString('en-GB');

/** How much of its log the router keeps, for how long, and what stays beyond that. */
export function Storage({ answer }: { answer: StorageAnswer }) {
  const { keep, pruned, held } = answer;
  return (
    <>
      <p>
        Kept for {formatCount(keep.days)} days, at most {formatCount(keep.rows)} rows of each; evaluations reach back as
        far as the decisions do.
      </p>
      {answer.measured_at === undefined ? (
        <p className="muted">It has not been counted yet.</p>
      ) : (
        <ul className="list num">
          <li>Decisions {sizeOf(answer.decisions)}</li>
          <li>Journal {sizeOf(answer.journal)}</li>
        </ul>
      )}
      <p className="muted num">
        {formatCount(pruned.decisions)} decisions and {formatCount(pruned.journal)} entries were deleted since its
        start.
        {held > 0 &&
          ` ${formatCount(held)} decisions stay beyond their bound: they may still be rated, or a rollout needs them.`}
        {answer.kept_for_rollout_since !== undefined &&
          ` The running rollout keeps all since ${day(answer.kept_for_rollout_since)}.`}
      </p>
    </>
  );
}

function sizeOf({ rows, oldest, bytes }: StorageAnswer['decisions']): string {
  return `${formatCount(rows ?? 0)}${oldest === undefined ? '' : `, the oldest of ${day(oldest)}`}${bytes === undefined ? '' : `, ${formatBytes(bytes)}`}`;
}
