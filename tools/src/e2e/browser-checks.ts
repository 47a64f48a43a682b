import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

/** What the browser complained about: exceptions, and errors of the console that are not failed requests. */
export function watchFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return faults;
}

/** Bodies of everything that a context receives from paths that begin with `/api/`, with their URLs. */
export function recordPayloads(context: BrowserContext): { readonly url: string; readonly body: string }[] {
  const payloads: { url: string; body: string }[] = [];
  context.on('response', (response) => {
    if (!new URL(response.url()).pathname.startsWith('/api/')) return;
    // A body that is gone because the page was left was not seen by anybody either.
    void response.text().then(
      (body) => payloads.push({ url: response.url(), body }),
      () => undefined,
    );
  });
  return payloads;
}

export interface AccessFault {
  readonly rule: string;
  readonly impact: string;
  readonly where: readonly string[];
}

/** What axe-core finds serious or critical on a page; the context needs `bypassCSP`. */
export async function accessFaults(page: Page): Promise<AccessFault[]> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { target: unknown[] }[] }[] }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => ({
      rule: id,
      impact,
      where: nodes.slice(0, 5).map(({ target }) => target.join(' ')),
    }));
  });
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}
