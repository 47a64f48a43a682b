import { RolloutView, type StackFile } from '@sluice/contracts';
import { setTimeout as delay } from 'node:timers/promises';
import { table } from '../stack/welcome.ts';

/** Seconds that both replays may take together. */
const WITHIN_S = 60;
const REPLAYS = [
  { name: 'as good as what serves', candidate_quality: 0.9, expected: 'promoted', seed: 3 },
  { name: 'much worse', candidate_quality: 0.75, expected: 'rolled_back', seed: 4 },
] as const;

/** Two policies go through their stages by a faster clock: one is promoted, one rolled back. True when both end so. */
export async function rolloutAct({ services: { router } }: Pick<StackFile, 'services'>): Promise<boolean> {
  async function call(method: string, path: string, body?: object): Promise<RolloutView> {
    const answer = await fetch(`${router.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${router.token ?? ''}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok)
      throw new Error(`the router answered ${path} with ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    return RolloutView.parse(await answer.json());
  }
  const order = {
    actor: { kind: 'person', id: 'demo' },
    reason: 'shown in the demo',
    control_quality: 0.9,
    seconds: WITHIN_S,
  };
  const started = await Promise.all(
    REPLAYS.map(({ candidate_quality, seed }) =>
      call('POST', '/rollouts/replay', { ...order, candidate_quality, seed }),
    ),
  );
  const until = performance.now() + WITHIN_S * 1000;
  let views = started;
  while (views.some(({ state }) => state === 'running') && performance.now() < until) {
    await delay(500);
    views = await Promise.all(started.map(({ id }) => call('GET', `/rollouts/${id}`)));
  }
  for (const [i, { state, history }] of views.entries()) {
    console.log(`   A candidate that is ${REPLAYS[i]?.name}: ${state}`);
    console.log(
      table(history.map(({ at, from, to, reason }) => [at.slice(0, 19), `${from} → ${to}`, reason]))
        .map((line) => `   ${line}`)
        .join('\n'),
    );
  }
  return views.every(({ state }, i) => state === REPLAYS[i]?.expected);
}
