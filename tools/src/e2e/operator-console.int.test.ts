import { eventually } from '@sluice/testing';
import type { Locator } from 'playwright-core';
import { startTraffic, type SteadyTraffic } from '../chaos/steady-traffic.ts';
import { startFullStack, type FullStack } from './full-stack.ts';
import { accessFaults, watchFaults } from './browser-checks.ts';
import { launchBrowser, startBrowser, type SystemBrowser } from './system-browser.ts';

let stack: FullStack;
let browser: SystemBrowser;
let traffic: SteadyTraffic;
beforeAll(async () => {
  stack = await startFullStack({ late: AbortSignal.timeout(200_000) });
  browser = await startBrowser();
  traffic = startTraffic(stack.file, { acme: 3, globex: 5 });
  await signIn();
}, 280_000);
afterAll(async () => {
  await traffic?.stop();
  await browser?.close();
  await stack?.stop();
}, 120_000);

const url = (path: string) => `${stack.file.services['control-plane'].url}/_console${path}`;

async function signIn(): Promise<void> {
  const { page } = browser;
  await page.goto(url('/chaos'));
  await page.fill('input[name=user]', stack.file.operator.user);
  await page.fill('input[name=password]', stack.file.operator.password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'initech · 120/s' }).waitFor();
}

/** Calls of two minutes that a tenant's panel shows under an outcome; 0 when it shows none. */
async function counted(tenant: string, outcome: string): Promise<number> {
  const figure = browser.page.locator(`[data-tenant="${tenant}"] [data-outcome="${outcome}"] strong`);
  return (await figure.count()) === 0 ? 0 : Number((await figure.first().innerText()).replaceAll(',', ''));
}
const drawn = (tenant: string, outcome: string): Promise<number> =>
  browser.page.locator(`[data-tenant="${tenant}"] svg > rect.fill-${outcome}`).count();
const report = (name: string): Locator => browser.page.locator(`[data-report="${name}"]`).first();
const verdicts = async (name: string): Promise<string[]> => report(name).locator('.checks .badge').allInnerTexts();
/** Every kind of page, also one of what there is not. */
const PAGES = [
  '/',
  '/chaos',
  '/requests',
  '/requests/req_1',
  '/router',
  '/tenants',
  '/tenants/acme',
  '/tenants/nobody',
  '/providers',
  '/providers/primary',
  '/providers/nobody',
  '/plans',
  '/plans/team',
  '/models',
  '/models/sim-large',
  '/kill-switches',
  '/people',
  '/nowhere',
];
/** Forms, by their page and the button that opens them. */
const FORMS = [
  ['/tenants', 'New tenant'],
  ['/tenants/acme', 'Change Acme'],
  ['/tenants/acme', 'New workspace'],
  ['/providers', 'New provider'],
  ['/providers/primary', 'Change Simulated primary'],
  ['/providers/primary', 'Change Simulated large'],
  ['/kill-switches', 'Switch something off'],
  ['/people', 'New person'],
] as const;
const slowly = { timeoutMs: 60_000, everyMs: 250 };

describe('the operator console in a browser', () => {
  it('initech · 120/s fills its bars with shed and throttled, while those of acme and globex do not change', async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'initech · 120/s' }).click();
    await eventually(async () => {
      expect(await drawn('initech', 'throttled')).toBeGreaterThan(2);
      expect(await drawn('initech', 'shed')).toBeGreaterThan(0);
    }, slowly);
    // Who loads the page anew sees the same failure, still running.
    await page.reload();
    await report('flood initech').waitFor();
    expect(await report('flood initech').innerText()).toMatch(/every tenant but initech is unchanged/);
    await page.getByRole('button', { name: 'Stop all' }).click();
    await eventually(
      async () => expect(await verdicts('flood initech')).toEqual(['as expected', 'as expected', 'as expected']),
      slowly,
    );
    for (const tenant of ['acme', 'globex']) {
      for (const outcome of ['throttled', 'shed', 'quota', 'upstream'])
        expect([tenant, outcome, await counted(tenant, outcome)]).toEqual([tenant, outcome, 0]);
      expect(await counted(tenant, 'ok')).toBeGreaterThan(5);
    }
  }, 120_000);

  it('a killed primary is seen: its breaker opens, traffic flows by the secondary, and it recovers by itself', async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'Providers' }).click();
    await page.getByRole('button', { name: 'kill primary' }).click();
    await eventually(async () => {
      expect(await page.locator('[data-provider="primary"] .badge.bad').first().innerText()).toMatch(/open/);
      expect(await page.locator('[data-provider="secondary"]').innerText()).toMatch(/0 of [1-9]/);
      // What holds all the time is told after the seconds in which streams are cut.
      expect((await verdicts('provider down primary')).slice(0, 3)).toEqual([
        'as expected',
        'as expected',
        'as expected',
      ]);
    }, slowly);
    await page.getByRole('button', { name: 'Stop all' }).click();
    await eventually(
      async () => {
        expect(await verdicts('provider down primary')).toEqual([
          'as expected',
          'as expected',
          'as expected',
          'as expected',
        ]);
        expect(await page.locator('[data-provider="primary"]').innerText()).toMatch(/closed/);
      },
      { timeoutMs: 100_000, everyMs: 500 },
    );
  }, 180_000);

  it('a broken audit consumer is seen: its dead letters fill, a redrive drains them', async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'Events' }).click();
    await page.getByRole('button', { name: 'break audit' }).click();
    for (let n = 0; n < 3; n += 1)
      await stack.api('PUT', `/api/kill-switches/seen-${n}`, {
        id: `seen-${n}`,
        scope: 'feature',
        target: `seen-${n}`,
        message: 'A test.',
      });
    const redrive = page.getByRole('button', { name: 'Redrive audit' });
    await redrive.waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Stop all' }).click();
    // What is still on its way to the dead letters comes later, so it is pressed again as a person would.
    await eventually(
      async () => {
        if (await redrive.isVisible()) await redrive.click();
        expect(await page.locator('[data-queue="audit"]').innerText()).toMatch(/none/);
        expect(await verdicts('consumer audit')).toEqual(['as expected', 'as expected', 'as expected']);
      },
      { timeoutMs: 60_000, everyMs: 1_000 },
    );
  }, 150_000);

  it('every control is reached by the keyboard with its focus seen', async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 900, height: 900 });
    await page.goto(url('/chaos'));
    await page.getByRole('button', { name: 'initech · 120/s' }).waitFor();
    const wanted = await page.locator('a[href]:visible, button:enabled:visible, select:visible, input:visible').count();
    const reached = new Set<string>();
    for (let press = 0; press < wanted + 5; press += 1) {
      await page.keyboard.press('Tab');
      const focus = (await page.evaluate(
        "(() => { const e = document.activeElement; const s = getComputedStyle(e); return e === document.body ? null : { name: e.tagName + ' ' + (e.getAttribute('aria-label') ?? e.textContent), seen: s.outlineStyle !== 'none' && s.outlineWidth !== '0px' }; })()",
      )) as { name: string; seen: boolean } | null;
      if (focus === null) continue;
      expect(focus).toMatchObject({ seen: true });
      reached.add(focus.name);
    }
    for (const name of ['A Overview', 'A Requests', 'BUTTON Sign out', 'BUTTON initech · 120/s', 'BUTTON Events'])
      expect([...reached]).toContain(name);
    expect(browser.faults).toEqual([]);
  }, 120_000);

  it.each([
    ['light', [1440, 390]],
    ['dark', [1440, 900]],
  ] as const)(
    'axe-core finds nothing serious on any page or form in the %s scheme, and none is wider than the window, at %j px',
    async (colorScheme, widths) => {
      const system = await launchBrowser();
      try {
        // The page's policy lets no script in from outside, not even this judge.
        const context = await system.newContext({
          colorScheme,
          bypassCSP: true,
          viewport: { width: 1440, height: 900 },
        });
        const page = await context.newPage();
        page.setDefaultTimeout(60_000);
        const faults = watchFaults(page);
        await page.goto(url('/'));
        await page.fill('input[name=user]', stack.file.operator.user);
        const found: unknown[] = (await accessFaults(page)).map((fault) => ({ path: 'sign-in', ...fault }));
        await page.fill('input[name=password]', stack.file.operator.password);
        await page.keyboard.press('Enter');
        await page.locator('main section').first().waitFor();
        const open = async (path: string): Promise<void> => {
          // As the back button does it: the page is not loaded anew.
          await page.evaluate(
            `history.pushState(null, '', '/_console${path}'); dispatchEvent(new PopStateEvent('popstate'));`,
          );
          await page.locator('main section').first().waitFor();
          await page.getByText('One moment…').first().waitFor({ state: 'detached' });
        };
        const judge = async (what: string): Promise<void> => {
          for (const width of widths) {
            await page.setViewportSize({ width, height: 900 });
            found.push(...(await accessFaults(page)).map((fault) => ({ what, width, ...fault })));
            if (await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'))
              found.push({ what, width, wider: true });
          }
        };
        for (const path of PAGES) {
          await open(path);
          await judge(path);
        }
        for (const [path, button] of FORMS) {
          await open('/nowhere');
          await open(path);
          await page.getByRole('button', { name: button, exact: true }).click();
          await page.locator('form.editor').waitFor();
          await judge(`${path}: ${button}`);
        }
        expect(found).toEqual([]);
        expect(faults).toEqual([]);
      } finally {
        await system.close();
      }
    },
    600_000,
  );
});
