import { screen, waitFor } from '@testing-library/react';
import { problem } from '../test-support/fixture-bff.ts';
import { closeConsole, showConsole } from '../test-support/show-console.tsx';
import { readEvents } from './read-events.ts';

afterEach(closeConsole);

async function send(user: ReturnType<typeof showConsole>['user'], text = 'Which way?'): Promise<void> {
  await user.type(await screen.findByLabelText('Your message'), text);
  await user.click(screen.getByRole('button', { name: 'Send' }));
}

describe('the playground', () => {
  it('shows the answer, what it used and cost, who answered instead, and what is left of the limits', async () => {
    const { bff, user } = showConsole('/acme-prod/playground');
    await send(user);
    expect(await screen.findByText('Water flows down.')).toBeTruthy();
    await screen.findByText('The answer is complete.');
    const page = document.body.textContent ?? '';
    expect(page).toMatch(/input tokens11output tokens3cost\$0\.000078/);
    expect(page).toMatch(/answered by sim-large at secondary.*fallback: rate limit.*after 2 tries/);
    expect(page).toContain('49 of 50 requests left, full again in 20ms');
    expect(screen.getByRole('link', { name: 'See this request' }).getAttribute('href')).toBe(
      '/acme-prod/requests/req_play',
    );
    expect(bff.sent.at(-1)?.body).toEqual({ model: 'sim-large', messages: [{ role: 'user', content: 'Which way?' }] });
  });

  it('a second message carries the conversation so far', async () => {
    const { bff, user } = showConsole('/acme-prod/playground');
    await send(user);
    await screen.findByText('The answer is complete.');
    await send(user, 'Why?');
    await waitFor(() => expect(bff.sent).toHaveLength(2));
    expect(bff.sent[1]?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'Which way?' },
        { role: 'assistant', content: 'Water flows down.' },
        { role: 'user', content: 'Why?' },
      ],
    });
  });

  it('a 429 names the limit, counts down to when it makes sense to try again, and then lets the same be sent', async () => {
    const { bff, user } = showConsole('/acme-prod/playground', ({ routes }) => {
      routes['POST /api/playground'] = {
        status: 429,
        headers: {
          'x-sluice-refusal': 'throttled',
          'retry-after': '2',
          'retry-after-ms': '1200',
          'x-request-id': 'req_no',
        },
        body: {
          error: {
            message: 'The limit of 20 requests a second of this workspace is reached; try again in 1.2 s.',
            type: 'rate_limit_exceeded',
            code: 'rate_limit_exceeded',
          },
        },
      };
    });
    await send(user);
    const refusal = await screen.findByRole('alert');
    expect(refusal.textContent).toMatch(
      /A rate limit is reached 429 throttled.*limit of 20 requests a second of this workspace.*raise the limit/,
    );
    expect(screen.getByRole('timer').textContent).toMatch(/Try again in [12] second/);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send again' }).disabled).toBe(true);
    await waitFor(() => expect(screen.getByRole('timer').textContent).toBe('You can try again now'));
    delete bff.routes['POST /api/playground'];
    bff.routes['POST /api/playground'] = problem(402, 'x');
    await user.click(screen.getByRole('button', { name: 'Send again' }));
    await waitFor(() => expect(bff.sent).toHaveLength(2));
    expect(bff.sent[1]?.body).toEqual(bff.sent[0]?.body);
  });

  it('a used-up quota has no countdown, because waiting does not help', async () => {
    const { user } = showConsole('/acme-prod/playground', ({ routes }) => {
      routes['POST /api/playground'] = {
        status: 402,
        headers: { 'x-sluice-refusal': 'quota' },
        body: { error: { message: 'The quota daily-spend of this workspace is used up.', code: 'insufficient_quota' } },
      };
    });
    await send(user);
    expect((await screen.findByRole('alert')).textContent).toMatch(
      /A quota is used up.*daily-spend.*Waiting does not help/,
    );
    expect(screen.queryByRole('timer')).toBeNull();
  });

  it('an answer that breaks off keeps what came and says so', async () => {
    const { user } = showConsole('/acme-prod/playground', ({ routes }) => {
      routes['POST /api/playground'] = {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: 'data: {"choices":[{"delta":{"content":"Wat"}}]}\n\ndata: {"error":{"message":"The model provider sent an answer that cannot be read."}}\n\n',
      };
    });
    await send(user);
    expect((await screen.findByRole('alert')).textContent).toContain('cannot be read');
    expect(screen.getByTestId('answer').textContent).toBe('Wat');
  });

  it('a stream that just stops is not taken for a whole answer', async () => {
    const { user } = showConsole('/acme-prod/playground', ({ routes }) => {
      routes['POST /api/playground'] = {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: 'data: {"choices":[{"delta":{"content":"Wat"}}]}\n\n',
      };
    });
    await send(user);
    expect((await screen.findByRole('alert')).textContent).toContain('broke off before its end');
  });

  it('Stop ends the call and keeps what came', async () => {
    const { user } = showConsole('/acme-prod/playground');
    let cancelled = false;
    const usual = globalThis.fetch;
    globalThis.fetch = (async (input: string, init: RequestInit) => {
      if (!input.startsWith('/api/playground')) return usual(input, init);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"Water"}}]}\n\n'));
          init.signal?.addEventListener('abort', () => {
            cancelled = true;
            controller.error(new DOMException('aborted', 'AbortError'));
          });
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    }) as typeof fetch;
    await send(user);
    await screen.findByText('Water');
    await user.click(screen.getByRole('button', { name: 'Stop' }));
    expect(await screen.findByText(/Stopped by you/)).toBeTruthy();
    expect([cancelled, screen.getByTestId('answer').textContent]).toEqual([true, 'Water']);
  });
});

describe('reading a stream of events', () => {
  const TEXT = 'data: a\r\n\r\n: note\nevent: usage\ndata: {"x":\ndata: "ü"}\n\ndata: cut';
  it.each([1, 2, 3, 7, 1000])('is the same in pieces of %d bytes', async (size) => {
    const bytes = new TextEncoder().encode(TEXT);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events = [];
    for await (const event of readEvents(body)) events.push(event);
    expect(events).toEqual([
      { event: 'message', data: 'a' },
      { event: 'usage', data: '{"x":\n"ü"}' },
    ]);
  });
});
