import { exampleOf, type JsonSchema } from '@sluice/service-kit';
import { unstorableBodies } from '@sluice/testing';
import { z } from 'zod';
import { ROUTER_ROUTES } from './routes/route-table.ts';
import { startTestRouter, TOKEN, type TestRouter } from './testing/start-test-router.ts';

let router: TestRouter;
beforeAll(async () => {
  router = await startTestRouter();
});
afterAll(() => router.close());

it('every route with a body refuses text and numbers that no store can keep with a 400 that names the field', async () => {
  const wrong: string[] = [];
  let tried = 0;
  for (const { method, path, body } of ROUTER_ROUTES) {
    if (body === undefined) continue;
    const example = exampleOf(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
    for (const { field, json } of unstorableBodies(example)) {
      tried += 1;
      const res = await fetch(router.url + path.replace(/:[a-z]+/g, 'one'), {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: json,
      });
      const text = await res.text();
      const errors = res.status === 400 ? (JSON.parse(text) as { errors?: { path: string }[] }).errors : undefined;
      if (errors?.length !== 1 || errors[0]?.path !== field)
        wrong.push(`${method} ${path} ${field}: ${res.status} ${text.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThan(30);
});
