import type { EventOrigin } from '@sluice/contracts';

type Place = Pick<EventOrigin, 'epoch' | 'sequence'>;

/**
 * Which records of this gateway's outbox have been settled here, as one short statement: an epoch, the highest
 * sequence and the few below it that are still missing, because calls do not end in the order of their records.
 * What is settled of an epoch includes all that was replayed of earlier ones.
 */
export interface SettledTrack {
  /** The call of this record is settled, or replayed. */
  note(origin: Place): void;
  /** `epoch last missing…`; empty while nothing was noted. */
  statement(): string;
}

export function createSettledTrack(): SettledTrack {
  let epoch = 0;
  let last = 0;
  const missing = new Set<number>();
  let statement: string | undefined = '';
  return {
    note(origin) {
      if (origin.epoch < epoch) return;
      if (origin.epoch > epoch) {
        epoch = origin.epoch;
        last = 0;
        missing.clear();
      }
      for (let between = last + 1; between < origin.sequence; between++) missing.add(between);
      if (origin.sequence > last) last = origin.sequence;
      else missing.delete(origin.sequence);
      statement = undefined;
    },
    statement() {
      statement ??= [epoch, last, ...missing].join(' ');
      return statement;
    },
  };
}

/** Reads a statement: whether it holds the record at a place. */
export function readStatement(statement: string): (place: Place) => boolean {
  if (statement === '') return () => false;
  const [epoch = 0, last = 0, ...missing] = statement.split(' ').map(Number);
  const gaps = new Set(missing);
  return (place) =>
    place.epoch < epoch || (place.epoch === epoch && place.sequence <= last && !gaps.has(place.sequence));
}

/** Reads a statement as the runs of sequences that it holds; undefined for one that says nothing. */
export function runsOfStatement(
  statement: string,
): { readonly epoch: number; readonly runs: [from: number, to: number][] } | undefined {
  if (statement === '') return undefined;
  const [epoch = 0, last = 0, ...missing] = statement.split(' ').map(Number);
  const runs: [number, number][] = [];
  let from = 1;
  for (const gap of [...missing.toSorted((a, b) => a - b), last + 1]) {
    if (gap > from) runs.push([from, gap - 1]);
    from = gap + 1;
  }
  return { epoch, runs };
}
