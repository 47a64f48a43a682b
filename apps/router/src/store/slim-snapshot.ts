import type { FeatureSpec, RouterSnapshot, SnapshotPolicy, TextScorerSpec as Scorer } from '@sluice/contracts';

type SlimPolicy = Omit<SnapshotPolicy, 'features'> & {
  readonly features: Omit<FeatureSpec, 'scorer'> & {
    readonly scorer?: { readonly id: string; readonly strength: number; readonly scorer?: Scorer };
  };
};

/**
 * A snapshot whose scorers stand elsewhere under their ids: a scorer has up to 700 kB, changes seldom, and
 * snapshots are made each few seconds.
 */
export interface SlimSnapshot extends Omit<RouterSnapshot, 'control' | 'candidate'> {
  readonly control: SlimPolicy;
  readonly candidate?: Omit<NonNullable<RouterSnapshot['candidate']>, 'policy'> & { readonly policy: SlimPolicy };
}

/** Takes the scorers out. An id is the digest of its scorer, so that what has the same id is the same. */
export function slimSnapshot(snapshot: RouterSnapshot): {
  readonly slim: SlimSnapshot;
  readonly scorers: ReadonlyMap<string, Scorer>;
} {
  const scorers = new Map<string, Scorer>();
  const slimPolicy = ({ features, ...policy }: SnapshotPolicy): SlimPolicy => {
    const { scorer, ...others } = features;
    if (scorer === undefined) return { ...policy, features: others };
    scorers.set(scorer.id, scorer.scorer);
    return { ...policy, features: { ...others, scorer: { id: scorer.id, strength: scorer.strength } } };
  };
  const { control, candidate, ...others } = snapshot;
  return {
    slim: {
      ...others,
      control: slimPolicy(control),
      ...(candidate === undefined ? {} : { candidate: { ...candidate, policy: slimPolicy(candidate.policy) } }),
    },
    scorers,
  };
}

/** Ids of the scorers that a kept snapshot misses; one that was kept whole misses none. */
export function missingScorers({ control, candidate }: SlimSnapshot): string[] {
  const ids = [control, candidate?.policy].flatMap((policy) => {
    const scorer = policy?.features.scorer;
    return scorer === undefined || scorer.scorer !== undefined ? [] : [scorer.id];
  });
  return [...new Set(ids)];
}

/** Puts the scorers back; undefined when one of them is gone. */
export function wholeSnapshot(slim: SlimSnapshot, scorers: ReadonlyMap<string, unknown>): unknown {
  if (!missingScorers(slim).every((id) => scorers.has(id))) return undefined;
  const wholePolicy = ({ features, ...policy }: SlimPolicy): unknown => ({
    ...policy,
    features:
      features.scorer === undefined
        ? features
        : { ...features, scorer: { scorer: scorers.get(features.scorer.id), ...features.scorer } },
  });
  const { control, candidate, ...others } = slim;
  return {
    ...others,
    control: wholePolicy(control),
    ...(candidate === undefined ? {} : { candidate: { ...candidate, policy: wholePolicy(candidate.policy) } }),
  };
}
