import { connect } from 'node:net';
import express, { type Express } from 'express';
import { listen } from './listen.ts';

function start(app: Express, graceMs?: number) {
  return listen(app, { host: '127.0.0.1', port: 0, ...(graceMs === undefined ? {} : { graceMs }) });
}

describe('listen', () => {
  it('hands out Express requests and responses without changing their prototype', async () => {
    const app = express();
    const setPrototypeOf = Object.setPrototypeOf;
    let atBirth: unknown[] = [];
    app.get('/x', (req, res) => {
      atBirth = [Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response];
      res.status(201).json({ query: req.query, ip: req.ip });
    });
    let changed = 0;
    Object.setPrototypeOf = (object: object, prototype: object | null) => {
      if (Object.getPrototypeOf(object) !== prototype) changed++;
      return setPrototypeOf(object, prototype);
    };
    const server = await start(app);
    try {
      const res = await fetch(`${server.url}/x?a=1`);
      expect(res.status).toBe(201);
      expect(await res.json()).toEqual({ query: { a: '1' }, ip: '127.0.0.1' });
    } finally {
      Object.setPrototypeOf = setPrototypeOf;
      await server.close();
    }
    expect(atBirth).toEqual([true, true]);
    expect(changed).toBe(0);
  });

  it('says in one sentence which port is taken', async () => {
    const first = await start(express());
    await expect(listen(express(), { host: '127.0.0.1', port: first.port })).rejects.toThrow(
      `Port ${first.port} on 127.0.0.1 is already taken`,
    );
    await first.close();
  });

  it('lets a request in progress end before it closes', async () => {
    const app = express();
    let finish = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      app.get('/slow', (_req, res) => {
        finish = () => void res.send('done');
        resolve();
      });
    });
    const server = await start(app);
    const answer = fetch(`${server.url}/slow`);
    await arrived;
    const closed = server.close();
    finish();
    expect(await (await answer).text()).toBe('done');
    await closed;
  });

  it('cuts a connection that outlasts the grace time', async () => {
    const app = express();
    const arrived = new Promise<void>((resolve) => app.get('/never', () => resolve()));
    const server = await start(app, 20);
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /never HTTP/1.1\r\nhost: x\r\n\r\n');
    await arrived;
    const cut = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    await server.close();
    await cut;
  });
});
