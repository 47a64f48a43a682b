import { compareLines } from './conflict.ts';

export interface ConflictNoticeProps {
  /** The version that the change was made on, and the one that is there now. */
  readonly began: number;
  readonly now: number;
  /** Both documents as text. */
  readonly theirs: string;
  readonly mine: string;
  readonly onTheirs: () => void;
  readonly onMine: () => void;
}

/** Tells who was too late what the other one changed, and lets them choose. */
export function ConflictNotice({ began, now, theirs, mine, onTheirs, onMine }: ConflictNoticeProps) {
  return (
    <div className="notice warn" role="alert">
      <p>
        <strong>Somebody changed this while you did.</strong> You began with version {began}; it is at version {now}{' '}
        now. Nothing of yours was saved. Lines with − are only theirs, with + only yours:
      </p>
      <pre className="compare" tabIndex={0} aria-label="Theirs and mine, line by line">
        {compareLines(theirs, mine).map((line, index) => (
          <span key={index} className={line.side}>
            {line.side === 'both' ? '  ' : line.side === 'theirs' ? '− ' : '+ '}
            {line.text}
            {'\n'}
          </span>
        ))}
      </pre>
      <div className="inline">
        <button type="button" onClick={onTheirs}>
          Take theirs, drop mine
        </button>
        <button type="button" className="danger" onClick={onMine}>
          Put mine in the place of theirs
        </button>
      </div>
    </div>
  );
}
