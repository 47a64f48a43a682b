/**
 * Starts `ratePerSecond × seconds` calls on a fixed schedule, whether or not earlier ones have ended, so that a slow
 * server does not slow the arrivals (no coordinated omission). Resolves when all have ended.
 *
 * @param send is given the number of the arrival, from 0.
 */
export async function openLoop<T>(
  ratePerSecond: number,
  seconds: number,
  send: (index: number) => Promise<T>,
): Promise<T[]> {
  const total = Math.round(ratePerSecond * seconds);
  const startedAt = performance.now();
  const running: Promise<T>[] = [];
  while (running.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * ratePerSecond) + 1);
    while (running.length < due) running.push(send(running.length));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return Promise.all(running);
}
