import type { Browser, BrowserContext, Page } from 'playwright-core';
import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { startFullStack, type FullStack } from './full-stack.ts';
import { accessFaults, recordPayloads, watchFaults } from './browser-checks.ts';
import { launchBrowser } from './system-browser.ts';

let stack: FullStack;
let browser: Browser;
beforeAll(async () => {
  stack = await startFullStack({ late: AbortSignal.timeout(200_000) });
  browser = await launchBrowser();
}, 280_000);
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
}, 120_000);

const PATIENT = { timeout: 30_000 };
const PAGES = [
  'overview',
  'usage',
  'requests',
  'alerts',
  'playground',
  'keys',
  'policy',
  'members',
  'billing',
  'account',
];
const url = (path: string): string => `${stack.file.services.console.url}${path}`;
const passwordOf = (email: string): string => stack.file.users.find((user) => user.email === email)?.password ?? '';

interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly payloads: { readonly url: string; readonly body: string }[];
  readonly faults: string[];
}

/** A browser of their own, not signed in, at an address. */
async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const payloads = recordPayloads(context);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT.timeout);
  const faults = watchFaults(page);
  await page.goto(url(path));
  return { context, page, payloads, faults };
}

async function signIn(email: string, path: string, options?: Parameters<Browser['newContext']>[0]): Promise<Person> {
  const person = await open(path, options);
  await person.page.getByLabel('E-mail address').fill(email);
  await person.page.getByLabel('Password').fill(passwordOf(email));
  await person.page.getByRole('button', { name: 'Sign in' }).click();
  // Not the menu: on a phone it is folded away.
  await person.page.locator('#main h1').waitFor();
  return person;
}

describe('the tenant console in a real browser', () => {
  it('signs in with the keyboard alone, stays signed in, and forgets the person at sign-out', async () => {
    const { page, context, faults } = await open('/acme-prod/overview');
    await page.getByLabel('E-mail address').focus();
    await page.keyboard.type('ada@acme.example');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not this one');
    await page.keyboard.press('Enter');
    await page.getByText('password is wrong').waitFor();
    await page.getByLabel('Password').fill('');
    await page.getByLabel('Password').focus();
    await page.keyboard.type(passwordOf('ada@acme.example'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Traffic now' }).waitFor();
    // The first stop of the Tab key leads past the menu; a link of the menu takes the focus to the new page.
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the page');
    await page.getByRole('link', { name: 'API keys' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Demo key').first().waitFor();
    expect(await page.locator(':focus').textContent()).toBe('API keys');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await page.goBack();
    await page.getByLabel('Password').waitFor();
    expect(await page.getByText('Demo key').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);

  it('what two people of different customers receive holds no trace of the other', async () => {
    await Promise.all(
      ['acme-prod', 'globex-prod'].map((slug) =>
        chat(stack.gatewayUrl, { key: stack.file.keys[slug] ?? '', sim: { ttft_ms: 0, chunk_ms: 0 } }),
      ),
    );
    const people = await Promise.all([
      signIn('ada@acme.example', '/acme-prod/overview'),
      signIn('gus@globex.example', '/globex-prod/overview'),
    ]);
    const workspaces = ['acme-prod', 'globex-prod'] as const;
    await Promise.all(
      people.map(async ({ page }, index) => {
        for (const name of PAGES) {
          await page.goto(url(`/${workspaces[index]}/${name}`));
          await page.locator('h1').waitFor();
          await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        }
        // And what is asked for on purpose.
        for (const path of [
          `/api/overview?workspace=${workspaces[1 - index]}`,
          `/api/requests?workspace=${workspaces[1 - index]}`,
          `/api/keys?workspace=${workspaces[1 - index]}`,
        ]) {
          expect(await page.evaluate(async (wanted) => (await fetch(wanted)).status, path)).toBe(404);
        }
      }),
    );
    const traces = (slug: (typeof workspaces)[number], words: readonly string[]): string[] => [
      ...words,
      (stack.file.keys[slug] ?? '').split('-').slice(2).join('-'),
      (stack.file.keys[slug] ?? '').split('-')[2] ?? '',
    ];
    const marks = [
      traces('acme-prod', ['acme', 'Acme', 'ada@', 'dev@', 'fin@', 'a0c3e000']),
      traces('globex-prod', ['globex', 'Globex', 'gus@', 'dora@', '910be000']),
    ];
    for (const [index, { payloads, page }] of people.entries()) {
      const everything = payloads.map(({ body }) => body).join('\n') + (await page.content());
      // The recording is not empty: each one's own is there.
      expect(everything).toContain(workspaces[index]);
      expect(payloads.length).toBeGreaterThan(PAGES.length);
      const foreign = (marks[1 - index] ?? []).filter((mark) => everything.includes(mark));
      expect(foreign).toEqual([]);
    }
    expect(people.flatMap(({ faults }) => faults)).toEqual([]);
    await Promise.all(people.map(({ context }) => context.close()));
  }, 180_000);

  it('the second of two editors of a policy sees both versions, chooses, and saves; nothing of either is lost', async () => {
    const [first, second] = await Promise.all([
      signIn('ada@acme.example', '/acme-staging/policy'),
      signIn('ada@acme.example', '/acme-staging/policy'),
    ]);
    const rate = async (page: Page, perSecond: string): Promise<void> => {
      await page.getByRole('button', { name: 'Set Requests for this workspace' }).click();
      await page.getByLabel('How many requests').fill(perSecond);
      await page.getByLabel('Requests at once').fill('10');
    };
    await Promise.all([rate(first.page, '7'), rate(second.page, '3')]);
    await first.page
      .getByRole('button', { name: 'Set Running answers when a quota runs out for this workspace' })
      .click();
    await first.page.getByRole('combobox', { name: 'Running answers when a quota runs out' }).selectOption('true');
    await first.page.getByRole('button', { name: 'Save' }).click();
    await first.page.getByText(/Saved\./).waitFor();

    await second.page.getByRole('button', { name: 'Save' }).click();
    const conflict = second.page.getByRole('region', { name: 'Two versions of this policy' });
    await conflict.waitFor();
    expect(await conflict.textContent()).toMatch(
      /Yours 3 a second, 10 at once.*Theirs 7 a second, 10 at once.*as the plan has it.*Taken over from them: Running answers/,
    );
    expect(await second.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await conflict.getByRole('radio', { name: /Yours/ }).check();
    await second.page.getByRole('button', { name: 'Save' }).click();
    await second.page.getByText(/Saved\./).waitFor();
    const stored = (await stack.api('GET', '/api/workspaces/acme-staging/policy')) as { override?: object };
    expect(stored.override ?? stored).toMatchObject({
      limits: { requests: { perSecond: 3, burst: 10 } },
      stopMidStream: true,
    });
    expect([...first.faults, ...second.faults]).toEqual([]);
    await Promise.all([first.context.close(), second.context.close()]);
  }, 180_000);

  it('the playground streams, tells what it cost, stops when told, and makes a 429 something to act on', async () => {
    const { page, context, faults } = await signIn('gus@globex.example', '/globex-prod/playground');
    const send = async (text: string): Promise<void> => {
      await page.getByLabel('Your message').fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    };
    await send('Which way does water flow?');
    await page.getByText('is answering').waitFor();
    await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
    const shown = (await page.getByRole('region', { name: 'Conversation' }).textContent()) ?? '';
    expect(shown).toMatch(/output tokens\d+cost\$0\.\d+.*answered by sim-large at primary.*requests left/s);

    await stack.fault('primary', { kind: 'stall', after_chunks: 3 });
    await page.getByRole('button', { name: 'Start anew' }).click();
    await send('Tell it again');
    await page.getByText('is answering').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/Stopped by you/).waitFor();
    const link = page.getByRole('link', { name: 'See this request' });
    const id = ((await link.getAttribute('href')) ?? '').split('/').at(-1);
    await eventually(
      async () => expect((await stack.ledger()).find((row) => row.request_id === id)?.outcome).toBe('cancelled'),
      { timeoutMs: 20_000 },
    );

    await fetch(`${stack.file.services['provider-sim'].url}/providers/primary/fault`, { method: 'DELETE' });
    await stack.api('PUT', '/api/workspaces/globex-prod/policy', { limits: { requests: { perMinute: 20, burst: 1 } } });
    const refusal = page.locator('.refusal');
    await eventually(
      async () => {
        await send('And again');
        await page.locator('.refusal, [data-testid=answer]').first().waitFor();
        if (await page.getByRole('button', { name: 'Stop' }).isVisible())
          await page.getByRole('button', { name: 'Stop' }).click();
        expect(await refusal.isVisible()).toBe(true);
      },
      { timeoutMs: 20_000 },
    );
    expect(await refusal.textContent()).toMatch(
      /A rate limit is reached 429 throttled.*request.*Try again in \d+ second/s,
    );
    const again = page.getByRole('button', { name: 'Send again' });
    expect(await again.isDisabled()).toBe(true);
    await page.getByText('You can try again now').waitFor();
    expect(await again.isDisabled()).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);

  it.each(['light', 'dark'] as const)(
    'axe-core finds nothing serious on any page, in the %s scheme',
    async (colorScheme) => {
      // The page's policy lets no script in from outside, not even this judge.
      const { page, context } = await signIn('ada@acme.example', '/acme-prod/overview', {
        colorScheme,
        bypassCSP: true,
        viewport: { width: colorScheme === 'light' ? 1280 : 390, height: 900 },
      });
      const found: unknown[] = [];
      for (const name of PAGES) {
        await page.goto(url(`/acme-prod/${name}`));
        await page.locator('h1').waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        found.push(...(await accessFaults(page)).map((fault) => ({ name, ...fault })));
      }
      expect(found).toEqual([]);
      await context.close();
    },
    180_000,
  );
});
