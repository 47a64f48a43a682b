export interface FrontierPoint {
  readonly cost: number;
  readonly quality: number;
}

/** Points of the upper hull that rise with cost, cheapest first (RouterBench, Hu et al. 2024). */
export function risingHull(points: readonly FrontierPoint[]): FrontierPoint[] {
  const sorted = [...points].sort((a, b) => a.cost - b.cost || b.quality - a.quality);
  const hull: FrontierPoint[] = [];
  for (const point of sorted) {
    if (hull.length > 0 && point.quality <= (hull.at(-1) as FrontierPoint).quality) continue;
    while (
      hull.length >= 2 &&
      slope(hull.at(-2) as FrontierPoint, hull.at(-1) as FrontierPoint) <= slope(hull.at(-1) as FrontierPoint, point)
    )
      hull.pop();
    hull.push(point);
  }
  return hull;
}

/**
 * Average improvement in quality: mean quality of the hull over a range of costs (RouterBench).
 *
 * @param from the cheapest point when absent. No point may be cheaper.
 * @param to the dearest point when absent; give the same range where two sets of points are compared.
 */
export function averageQuality(
  points: readonly FrontierPoint[],
  from = Math.min(...points.map(({ cost }) => cost)),
  to = Math.max(...points.map(({ cost }) => cost)),
): number {
  const hull = risingHull(points);
  let area = 0;
  for (let i = 1; i < hull.length; i += 1) {
    const [left, right] = [hull[i - 1] as FrontierPoint, hull[i] as FrontierPoint];
    area += ((left.quality + right.quality) / 2) * (right.cost - left.cost);
  }
  const last = hull.at(-1) as FrontierPoint;
  return (area + last.quality * (to - last.cost)) / (to - from);
}

/** Accuracy by the share of calls that go to the strong model, 0 to 1, ascending (RouteLLM, Ong et al. 2024). */
export interface StrongShareCurve {
  readonly share: readonly number[];
  readonly accuracy: readonly number[];
}

/** Area under the curve by trapezoids. */
export function areaUnderCurve({ share, accuracy }: StrongShareCurve): number {
  let area = 0;
  for (let i = 1; i < share.length; i += 1)
    area +=
      (((accuracy[i] as number) + (accuracy[i - 1] as number)) / 2) * ((share[i] as number) - (share[i - 1] as number));
  return area;
}

/** Average performance gap recovered between weak and strong; 0.5 for a random router. */
export function averageGapRecovered(curve: StrongShareCurve): number {
  const weak = curve.accuracy[0] as number;
  const strong = curve.accuracy.at(-1) as number;
  return (areaUnderCurve(curve) - weak) / (strong - weak);
}

/**
 * Share of strong calls at which this part of the gap is recovered, by linear interpolation; `undefined` when it
 * never is.
 */
export function callPerformanceThreshold({ share, accuracy }: StrongShareCurve, part: number): number | undefined {
  const weak = accuracy[0] as number;
  const wanted = weak + part * ((accuracy.at(-1) as number) - weak);
  for (let i = 1; i < share.length; i += 1) {
    const [low, high] = [accuracy[i - 1] as number, accuracy[i] as number];
    if (low <= wanted && wanted <= high && high > low)
      return (
        (share[i - 1] as number) + ((wanted - low) / (high - low)) * ((share[i] as number) - (share[i - 1] as number))
      );
  }
  return undefined;
}

/**
 * RouterArena's score of accuracy and cost: harmonic mean of accuracy and a logarithmic cost share. US dollars per
 * 1,000 queries.
 */
export function routerArenaScore(costPer1000: number, accuracy: number): number {
  const dearest = 200;
  const cheapest = 0.0044;
  const beta = 0.1;
  const share = (Math.log2(dearest) - Math.log2(costPer1000)) / (Math.log2(dearest) - Math.log2(cheapest));
  return ((1 + beta) * accuracy * share) / (beta * accuracy + share);
}

const slope = (a: FrontierPoint, b: FrontierPoint): number => (b.quality - a.quality) / (b.cost - a.cost);
