import '@sluice/ui/theme.css';
import './console.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createOperatorApi } from './api/operator-api.ts';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root element');

const api = createOperatorApi(
  (path, init) => fetch(path, init),
  (path) => new EventSource(path),
);

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider
      client={
        new QueryClient({
          defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: Infinity } },
        })
      }
    >
      <App api={api} />
    </QueryClientProvider>
  </StrictMode>,
);
