import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchBenchProcess, pinned, type BenchProcess } from './bench-process.ts';

/** Path of the installed nginx, or undefined. */
export function findNginx(): string | undefined {
  for (const path of ['nginx', '/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx']) {
    try {
      execFileSync(path, ['-v'], { stdio: 'ignore' });
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/**
 * nginx as a plain reverse proxy in one process: kept-alive upstream connections, no log, streams not buffered. It
 * checks and counts nothing.
 */
export async function startNginx(
  nginx: string,
  dir: string,
  port: number,
  upstreamPort: number,
): Promise<BenchProcess> {
  const prefix = join(dir, 'nginx');
  mkdirSync(prefix, { recursive: true });
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(prefix, kind)};`)
    .join(' ');
  writeFileSync(
    join(prefix, 'nginx.conf'),
    `daemon off; master_process off; pid ${join(prefix, 'nginx.pid')}; error_log ${join(prefix, 'error.log')} error;
events { worker_connections 8192; }
http {
  access_log off; ${temp} keepalive_requests 1000000; keepalive_timeout 300s; tcp_nodelay on;
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 1000000; keepalive_timeout 300s; }
  server { listen 127.0.0.1:${port} backlog=4096; location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 120s; } }
}
`,
  );
  const args = ['-p', prefix, '-c', join(prefix, 'nginx.conf')];
  const child = pinned
    ? spawn('taskset', ['-c', '0', nginx, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    : spawn(nginx, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  return watchBenchProcess(child, 'nginx', { kind: 'tcp', host: '127.0.0.1', port });
}
