import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** Programs that drive the pages; the first on PATH is taken. */
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** @throws Error when there is none. */
export function findBrowser(path: string = process.env['PATH'] ?? ''): string {
  for (const name of PROGRAMS) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // The next folder may have it.
      }
    }
  }
  throw new Error('no Chromium is on PATH (Debian: apt-get install chromium)');
}

export interface SystemBrowser {
  readonly page: Page;
  /** What the page reported as an error and a script threw. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** The system's own Chromium with a profile of its own, which goes with it. */
export async function startBrowser(
  options: { readonly width?: number; readonly height?: number } = {},
): Promise<SystemBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-browser-'));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: findBrowser(),
    headless: true,
    args: FLAGS,
    viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
    timeout: 60_000,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  return {
    page,
    faults,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** The system's own Chromium for several people at once: each context of it is a browser of its own. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser(), headless: true, args: FLAGS, timeout: 60_000 });
}
