import { z } from 'zod';
import { createApp, finishApp } from './app.ts';
import { listen } from './listen.ts';
import { createLogger } from './logger.ts';
import { openApiDocument, serveOpenApi, type ApiDescription } from './open-api.ts';

const API: ApiDescription = {
  title: 'Things <api>',
  description: 'Things.',
  routes: [
    {
      method: 'get',
      path: '/api/things/:id',
      summary: 'One thing',
      auth: 'session',
      query: z.object({ full: z.string().optional() }),
      response: z.object({ id: z.string() }),
    },
    { method: 'delete', path: '/api/things/:id', summary: 'Remove', auth: 'service', status: 204 },
  ],
};

describe('openApiDocument', () => {
  it('describes every route with its parameters, answers and credential', () => {
    expect(openApiDocument(API)).toMatchObject({
      openapi: '3.1.0',
      paths: {
        '/api/things/{id}': {
          get: {
            parameters: [
              { name: 'id', in: 'path' },
              { name: 'full', in: 'query', required: false },
            ],
            security: [{ session: [] }],
            responses: { 200: {}, default: {} },
          },
          delete: { security: [{ service: [] }], responses: { 204: {} } },
        },
      },
    });
  });

  it('is served beside a page without scripts', async () => {
    const logger = createLogger({ service: 't', level: 'silent' });
    const app = createApp({ logger });
    serveOpenApi(app, API);
    finishApp(app, { logger });
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    expect(await (await fetch(`${server.url}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
    const page = await (await fetch(`${server.url}/docs`)).text();
    await server.close();
    expect(page).toMatch(/<b class="get">GET<\/b> <code>\/<wbr>api\/<wbr>things\/<wbr>\{id\}<\/code>/);
    expect(page).not.toMatch(/<script|<api>/);
  });
});
