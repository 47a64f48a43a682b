import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { Router, type NextFunction, type Request, type Response } from 'express';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Operator console</title><body style="font:16px system-ui;margin:3rem">' +
  '<h1>The operator console has not been built</h1><p>Run <code>make -C apps/operator-console build</code> and load this page again.</p></body></html>';

/** The operator console's files below the path where this is mounted; every page path is its one page. */
export function serveConsole({ dir }: { dir: string }): Router {
  const router = Router();
  const page = join(dir, 'index.html');
  router.use((_req: Request, res: Response, next: NextFunction) => {
    res.set('content-security-policy', CSP);
    next();
  });
  router.use(
    express.static(dir, {
      index: false,
      redirect: false,
      setHeaders: (res, path) =>
        res.setHeader('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
    }),
  );
  router.get('/*path', (req: Request, res: Response, next: NextFunction) => {
    if (req.path.startsWith('/assets/')) next();
    else sendPage(res);
  });
  router.get('/', (_req: Request, res: Response) => sendPage(res));

  function sendPage(res: Response): void {
    res.set('cache-control', 'no-cache');
    if (existsSync(page)) res.sendFile(page, { cacheControl: false });
    else res.status(503).type('html').send(NOT_BUILT);
  }
  return router;
}
