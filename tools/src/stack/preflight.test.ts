import { createServer, type Server } from 'node:net';
import { portsFrom } from '@sluice/contracts';
import { freePortBase } from '@sluice/testing';
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
        ports: { ...portsFrom(await freePortBase()), gateway: port },
        externalDatabaseUrl: undefined,
      });
      // Another process may have taken one of the other ports meanwhile.
      const fault = faults.find((text) => text.startsWith(`Port ${port} `));
      expect(fault).toContain(`Port ${port} of gateway (gateway) is taken`);
      expect(fault).toContain('SLUICE_PORT_BASE');
    } finally {
      server.close();
    }
  });

  it('does not ask for the database port when the user has a database', async () => {
    const server = await listen(0);
    const { port } = server.address() as { port: number };
    try {
      const ports = { ...portsFrom(await freePortBase()), postgres: port };
      const ofDatabase = async (externalDatabaseUrl: string | undefined): Promise<string[]> =>
        (await portFaults({ host: HOST, ports, externalDatabaseUrl })).filter((text) => text.includes(' of database '));
      expect(await ofDatabase(undefined)).toHaveLength(1);
      expect(await ofDatabase('postgres://elsewhere/db')).toEqual([]);
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
