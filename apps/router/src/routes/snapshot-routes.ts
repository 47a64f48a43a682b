import type { Express, RequestHandler } from 'express';
import { ProblemError, sseStream, type SseStream } from '@sluice/service-kit';
import type { Published, Publisher } from '../learn/publisher.ts';

const HEARTBEAT_MS = 5_000;

/** Delivers the published snapshot to gateways: `GET /internal/snapshot`, and `GET /internal/snapshots` as a stream. */
export function serveSnapshots(
  app: Express,
  { publisher, onlyServices }: { publisher: Publisher; onlyServices: RequestHandler },
): { close(): void } {
  const streams = new Set<SseStream>();
  const unsubscribe = publisher.subscribe(({ json }) => {
    for (const stream of streams) stream.sendJson('snapshot', json);
  });
  const heartbeat = setInterval(() => {
    for (const stream of streams) stream.comment('alive');
  }, HEARTBEAT_MS);
  heartbeat.unref();

  const current = (): Published => {
    const published = publisher.current;
    if (published === undefined)
      throw new ProblemError(503, 'There is no snapshot yet', { headers: { 'retry-after': '2' } });
    return published;
  };

  app.get('/internal/snapshot', onlyServices, (req, res) => {
    const { compiled, json } = current();
    const tag = `"${compiled.snapshot.snapshot_id}"`;
    res.setHeader('etag', tag);
    if (req.headers['if-none-match'] === tag) return void res.status(304).end();
    res.type('application/json').send(json);
  });

  app.get('/internal/snapshots', onlyServices, (_req, res) => {
    const stream = sseStream(res);
    streams.add(stream);
    stream.onClose(() => streams.delete(stream));
    if (publisher.current === undefined) stream.comment('no snapshot yet');
    else stream.sendJson('snapshot', publisher.current.json);
  });

  return {
    close: () => {
      unsubscribe();
      clearInterval(heartbeat);
      for (const stream of [...streams]) stream.close();
    },
  };
}
