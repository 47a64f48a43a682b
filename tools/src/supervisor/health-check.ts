import { get } from 'node:http';
import { connect } from 'node:net';
import { existsSync } from 'node:fs';

export type HealthCheck =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'file'; readonly path: string };

const TIMEOUT_MS = 2_000;

/** Never throws: what does not answer, or answers with 400 and above, is not healthy. */
export function isHealthy(check: HealthCheck): Promise<boolean> {
  switch (check.kind) {
    case 'file':
      return Promise.resolve(existsSync(check.path));
    case 'http':
      return new Promise((resolve) => {
        const request = get(check.url, { timeout: TIMEOUT_MS, agent: false }, (response) => {
          response.resume();
          resolve((response.statusCode ?? 500) < 400);
        });
        request.on('timeout', () => request.destroy(new Error('timeout')));
        request.on('error', () => resolve(false));
      });
    case 'tcp':
      return new Promise((resolve) => {
        const socket = connect({ host: check.host, port: check.port, timeout: TIMEOUT_MS });
        const finish = (healthy: boolean) => {
          socket.destroy();
          resolve(healthy);
        };
        socket.on('connect', () => finish(true));
        socket.on('timeout', () => finish(false));
        socket.on('error', () => finish(false));
      });
  }
}
