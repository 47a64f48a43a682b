import { fileURLToPath } from 'node:url';
import { portsFrom } from '@sluice/contracts';
import { createConsoleServer } from './create-console-server.ts';

const ports = portsFrom(Number(process.env['SLUICE_PORT_BASE'] ?? 0));
const host = process.env['HOST'] ?? '127.0.0.1';
const server = createConsoleServer({
  dist: fileURLToPath(new URL('../dist', import.meta.url)),
  bffUrl: process.env['SLUICE_BFF_URL'] ?? `http://127.0.0.1:${ports.consoleBff}`,
  extraHosts: (process.env['SLUICE_CONSOLE_ORIGINS'] ?? '')
    .split(',')
    .flatMap((origin) => (URL.canParse(origin) ? [new URL(origin).host] : [])),
});

const say = (level: string, msg: string): void =>
  void process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), service: 'console', msg })}\n`);

server.on('error', (error: NodeJS.ErrnoException) => {
  const reason =
    error.code === 'EADDRINUSE'
      ? `Port ${ports.console} on ${host} is already taken by another process.`
      : error.message;
  process.stderr.write(`console could not start: ${reason}\n`);
  process.exit(1);
});
server.listen(ports.console, host, () => say('info', 'console is ready'));

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    say('info', 'console is stopping');
    server.close(() => process.exit(0));
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 2000).unref();
  });
}
