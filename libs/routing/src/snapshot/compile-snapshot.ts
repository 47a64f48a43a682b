import { ROUTER_SNAPSHOT_FORMAT, RouterSnapshot, type SnapshotPolicy } from '@sluice/contracts';
import type { Prediction } from '../linear/ridge-arm.ts';
import { standardise } from '../features/text-features.ts';
import { extractorFor, extractorNamed, type Extractor } from './extractors.ts';

/** Raised for a snapshot that cannot be decided by; the message says why and is no secret. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** One arm in flat arrays. */
export interface CompiledArm {
  readonly theta: Float64Array;
  /** A⁻¹ row by row. */
  readonly inverse: Float64Array;
  readonly meanLatencyMs: number | undefined;
  readonly meanOutputTokens: number | undefined;
}

export interface CompiledPolicy {
  readonly source: SnapshotPolicy;
  /** Of the context, the bias included. */
  readonly dimension: number;
  readonly arms: ReadonlyMap<string, CompiledArm>;
  readonly unseen: CompiledArm;
  /** Place of each model's score among the raw features; undefined without a scorer. */
  readonly scoreAt: ReadonlyMap<string, number> | undefined;
}

/** A snapshot prepared once for many decisions. */
export interface CompiledSnapshot {
  readonly snapshot: RouterSnapshot;
  readonly extractor: Extractor;
  readonly control: CompiledPolicy;
  readonly candidate: CompiledPolicy | undefined;
}

/**
 * Reads a published snapshot from its JSON value and prepares it.
 *
 * @throws SnapshotError for a newer format, an unknown extraction, and anything that is not a snapshot.
 */
export function readSnapshot(value: unknown): CompiledSnapshot {
  const format: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'format') : undefined;
  if (typeof format === 'number' && format > ROUTER_SNAPSHOT_FORMAT) {
    throw new SnapshotError(
      `the snapshot has format ${format}; this version reads up to ${ROUTER_SNAPSHOT_FORMAT}: update what reads it before the router`,
    );
  }
  const parsed = RouterSnapshot.safeParse(value);
  if (!parsed.success)
    throw new SnapshotError(
      `not a router snapshot: ${parsed.error.issues
        .map(({ path, message }) => `${path.join('.')}: ${message}`)
        .join('; ')
        .slice(0, 500)}`,
    );
  return compileSnapshot(parsed.data);
}

/** @throws SnapshotError when its parts do not fit each other. */
export function compileSnapshot(snapshot: RouterSnapshot): CompiledSnapshot {
  const { control, candidate } = snapshot;
  const other = candidate?.policy.features;
  if (other !== undefined && other.extractor !== control.features.extractor)
    throw new SnapshotError('control and candidate look at different features');
  if (
    other?.scorer !== undefined &&
    control.features.scorer !== undefined &&
    other.scorer.id !== control.features.scorer.id
  ) {
    throw new SnapshotError('control and candidate have different scorers; roll out one without a scorer between them');
  }
  const extractor = knownExtractor(
    control.features.scorer === undefined && other !== undefined ? other : control.features,
  );
  return {
    snapshot,
    extractor,
    control: compilePolicy(control),
    candidate: candidate && compilePolicy(candidate.policy),
  };
}

function knownExtractor(spec: SnapshotPolicy['features']): Extractor {
  let extractor: Extractor | undefined;
  try {
    extractor = extractorFor(spec);
  } catch (error) {
    if (error instanceof RangeError) throw new SnapshotError(error.message);
    throw error;
  }
  if (extractor === undefined)
    throw new SnapshotError(`the features '${spec.extractor}' are not known to this version`);
  return extractor;
}

/** @throws SnapshotError when its parts do not fit each other, or its features are not known. */
export function compilePolicy(source: SnapshotPolicy): CompiledPolicy {
  const extractor = extractorNamed(source.features.extractor);
  if (extractor === undefined)
    throw new SnapshotError(`the features '${source.features.extractor}' are not known to this version`);
  const { mean, sd, names, scorer } = source.features;
  const dimension = names.length + 1;
  if (names.length !== extractor.names.length || mean.length !== names.length || sd.length !== names.length) {
    throw new SnapshotError(
      `policy ${source.version} has ${names.length} names, ${mean.length} means and ${sd.length} deviations of ${extractor.names.length} features`,
    );
  }
  if (scorer !== undefined && scorer.scorer.scale.mean.length !== names.length)
    throw new SnapshotError(
      `policy ${source.version}: the scorer was fitted on ${scorer.scorer.scale.mean.length} features, there are ${names.length}`,
    );
  const scoreAt = scorer && new Map(scorer.scorer.models.map((model, i) => [model, names.length + i]));
  const arms = new Map<string, CompiledArm>();
  for (const {
    model,
    theta,
    inverse,
    mean_latency_ms: meanLatencyMs,
    mean_output_tokens: meanOutputTokens,
  } of source.arms) {
    if (theta.length !== dimension || inverse.length !== dimension || inverse.some((row) => row.length !== dimension)) {
      throw new SnapshotError(`policy ${source.version}: the arm of ${model} does not have ${dimension} dimensions`);
    }
    arms.set(model, {
      theta: Float64Array.from(theta),
      inverse: Float64Array.from(inverse.flat()),
      meanLatencyMs,
      meanOutputTokens,
    });
  }
  const { theta, strength } = source.unseen;
  if (theta.length !== dimension)
    throw new SnapshotError(`policy ${source.version}: the arm of unseen models does not have ${dimension} dimensions`);
  const inverse = new Float64Array(dimension * dimension);
  for (let i = 0; i < dimension; i += 1) inverse[i * dimension + i] = 1 / strength;
  return {
    source,
    dimension,
    arms,
    unseen: { theta: Float64Array.from(theta), inverse, meanLatencyMs: undefined, meanOutputTokens: undefined },
    scoreAt,
  };
}

/** What an arm says of a context. */
export function predictArm({ theta, inverse }: CompiledArm, x: readonly number[]): Prediction {
  const dimension = theta.length;
  let mean = 0;
  let quadratic = 0;
  for (let i = 0; i < dimension; i += 1) {
    const xi = x[i] as number;
    mean += xi * (theta[i] as number);
    let row = 0;
    for (let j = 0, at = i * dimension; j < dimension; j += 1, at += 1)
      row += (inverse[at] as number) * (x[j] as number);
    quadratic += xi * row;
  }
  return { mean, width: Math.sqrt(Math.max(0, quadratic)) };
}

/**
 * The context of a policy's arms, from the raw features of a record; scores that follow them are no part of it.
 * @throws RangeError for a feature that is no number.
 */
export function contextOf({ source: { features: spec } }: CompiledPolicy, features: readonly number[]): number[] {
  return standardise(features.length > spec.names.length ? features.slice(0, spec.names.length) : features, spec);
}

/**
 * What a policy expects of a model: what its arm says, and where the scorer knows the model both, each by its
 * precision. An arm of few rewards leaves it to the score, one of many corrects it; the width shrinks accordingly.
 *
 * @param x context of the policy.
 * @param features raw features, scores included.
 */
export function predictModel(
  policy: CompiledPolicy,
  model: string,
  x: readonly number[],
  features: readonly number[],
): Prediction & { readonly score?: number } {
  const predicted = predictArm(policy.arms.get(model) ?? policy.unseen, x);
  const at = policy.scoreAt?.get(model);
  if (at === undefined) return predicted;
  const score = features[at] as number;
  const weight = (policy.source.features.scorer?.strength ?? 0) * predicted.width * predicted.width;
  return {
    mean: (predicted.mean + weight * score) / (1 + weight),
    width: predicted.width / Math.sqrt(1 + weight),
    score,
  };
}
