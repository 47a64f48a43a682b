import { jest } from '@jest/globals';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, configure, render } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { createQueryClient } from '../api/query-client.ts';
import { App } from '../app.tsx';
import { createFixtureBff, fixtureFetch, type FixtureBff } from './fixture-bff.ts';

// Pages are loaded when they are first opened, which takes seconds on a busy machine.
jest.setTimeout(60_000);
configure({ asyncUtilTimeout: 20_000 });

/** The whole console at an address, with a backend of its own. Undone by `closeConsole`. */
export function showConsole(path: string, prepare?: (bff: FixtureBff) => void): { bff: FixtureBff; user: UserEvent } {
  const bff = createFixtureBff();
  prepare?.(bff);
  realFetch ??= globalThis.fetch;
  globalThis.fetch = fixtureFetch(bff);
  window.history.replaceState(null, '', path);
  // jsdom's clipboard belongs to user-event.
  const user = userEvent.setup({ delay: null });
  render(
    <QueryClientProvider client={createQueryClient()}>
      <App />
    </QueryClientProvider>,
  );
  return { bff, user };
}

let realFetch: typeof fetch | undefined;

export function closeConsole(): void {
  cleanup();
  if (realFetch !== undefined) globalThis.fetch = realFetch;
}
