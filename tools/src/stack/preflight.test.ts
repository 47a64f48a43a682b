import { createServer, type Server } from 'node:net';
import { portsFrom } from '@sluice/contracts';
import { nodeFaults, portFaults } from './preflight.ts';

const HOST = '127.0.0.1';

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, HOST, () => resolve(server));
  });
}

describe('portFaults', () => {
  it('names the part, the port and the process that holds it', async () => {
    const server = await listen(0);
    const { port } = server.address() as { port: number };
    try {
      const faults = await portFaults({
        host: HOST,
        ports: { ...portsFrom(9_000), gateway: port },
        externalDatabaseUrl: undefined,
      });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(`Port ${port} of gateway (gateway) is taken`);
      expect(faults[0]).toContain('SLUICE_PORT_BASE');
    } finally {
      server.close();
    }
  });

  it('does not ask for the database port when the user has a database', async () => {
    const server = await listen(0);
    const { port } = server.address() as { port: number };
    try {
      const ports = { ...portsFrom(9_000), postgres: port };
      expect(await portFaults({ host: HOST, ports, externalDatabaseUrl: undefined })).toHaveLength(1);
      expect(await portFaults({ host: HOST, ports, externalDatabaseUrl: 'postgres://elsewhere/db' })).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe('nodeFaults', () => {
  it('refuses a Node.js that cannot run the sources, and says which is needed', () => {
    expect(nodeFaults('20.11.0')[0]).toMatch(/needs Node.js 24/);
    expect(nodeFaults('24.0.0')).toEqual([]);
  });
});
