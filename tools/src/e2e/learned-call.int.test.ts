import { DecisionView } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { startFullStack, type FullStack } from './full-stack.ts';

let stack: FullStack;
beforeAll(async () => {
  stack = await startFullStack();
}, 120_000);
afterAll(() => stack?.stop(), 90_000);

const key = (slug: string): string => stack.file.keys[slug] as string;
const router = (path: string, token: string, init: RequestInit = {}) =>
  fetch(`${stack.file.services.router.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
const serviceToken = (): string => stack.file.services.router.token as string;

/** Sends an `auto` call. */
async function ask(body: object = {}) {
  const answer = await chat(stack.gatewayUrl, {
    key: key('acme-prod'),
    model: 'auto',
    sim: { output_tokens: 5, ttft_ms: 1, chunk_ms: 1 },
    body,
  });
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  return {
    ...answer,
    id: answer.headers.get('x-sluice-decision') as string,
    model: answer.headers.get('x-sluice-model') as string,
  };
}

async function decisionOf(id: string): Promise<DecisionView> {
  let found: unknown;
  await eventually(
    async () => {
      const response = await router(`/decisions/${id}?verify=1`, serviceToken());
      expect(response.status).toBe(200);
      found = await response.json();
    },
    { timeoutMs: 30_000 },
  );
  return DecisionView.parse(found);
}

describe('an auto call from end to end', () => {
  it("is decided by the router's policy in the gateway; ledger and router know its decision, and the router comes to the same probabilities", async () => {
    // The router comes up after the gateway, which goes on by itself until it has heard it.
    await eventually(
      async () => expect((await decisionOf((await ask()).id)).decision.deterministic).not.toBe('no_snapshot'),
      { timeoutMs: 60_000 },
    );
    for (const stream of [false, true]) {
      const call = await ask({ stream });
      const view = await decisionOf(call.id);
      expect(view).toMatchObject({
        tenant: 'acme',
        workspace: 'acme-prod',
        source: 'gateway',
        call: { outcome: 'ok', executed_model: call.model },
      });
      expect(view.decision).toMatchObject({ decision_id: call.id, chosen: call.model });
      expect(view.decision.arms.map(({ model }) => model).toSorted()).toEqual(['sim-large', 'sim-medium', 'sim-small']);
      expect(view.verification?.matches).toBe(true);
      await eventually(
        async () =>
          expect((await stack.ledger()).filter((row) => row.decision_id === call.id).map((row) => row.model)).toEqual([
            call.model,
          ]),
        { timeoutMs: 30_000 },
      );
    }
  }, 120_000);

  it('can be rated by its workspace and is unknown to every other', async () => {
    const { id } = await ask();
    await decisionOf(id);
    const feedback = (slug: string) =>
      router('/feedback', key(slug), {
        method: 'POST',
        body: JSON.stringify({ decision_id: id, metric: 'quality', value: 0.9 }),
      });
    expect((await router(`/decisions/${id}`, key('globex-prod'))).status).toBe(404);
    expect((await feedback('globex-prod')).status).toBe(404);
    expect((await feedback('acme-prod')).status).toBe(202);
  });

  it('is answered while the router is down', async () => {
    stack.killPart('router');
    for (let i = 0; i < 5; i += 1) expect((await ask()).id).toMatch(/^[0-9A-Z]{26}$/);
  });
});
