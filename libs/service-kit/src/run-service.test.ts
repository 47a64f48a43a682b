import { EventEmitter } from 'node:events';
import { runService } from './run-service.ts';

const logger = { info() {}, warn() {}, error() {}, fatal() {} };

function fakeHost() {
  const emitter = new EventEmitter();
  let text = '';
  let resolveExit: (code: number) => void = () => {};
  const exited = new Promise<number>((resolve) => (resolveExit = resolve));
  const host = {
    on: emitter.on.bind(emitter),
    exit: (code: number) => resolveExit(code),
    stderr: { write: (t: string) => void (text += t) },
  };
  return { host, emitter, exited, stderr: () => text };
}

describe('runService', () => {
  it.each(['SIGTERM', 'SIGINT'])('closes once and exits 0 on %s', async (signal) => {
    const { host, emitter, exited } = fakeHost();
    let closes = 0;
    await runService({ name: 'x', logger, host, start: async () => ({ close: async () => void closes++ }) });
    emitter.emit(signal);
    emitter.emit(signal);
    expect(await exited).toBe(0);
    expect(closes).toBe(1);
  });

  it('prints one sentence and exits 1 when it cannot start', async () => {
    const { host, exited, stderr } = fakeHost();
    await runService({ name: 'router', logger, host, start: () => Promise.reject(new Error('Port 1 is taken.')) });
    expect(await exited).toBe(1);
    expect(stderr()).toBe('router could not start: Port 1 is taken.\n');
  });

  it('exits 1 when the drain takes longer than allowed', async () => {
    const { host, emitter, exited } = fakeHost();
    await runService({
      name: 'x',
      logger,
      host,
      drainMs: 5,
      start: async () => ({ close: () => new Promise(() => {}) }),
    });
    emitter.emit('SIGTERM');
    // The drain timer alone does not keep a process alive; the test does.
    const alive = setInterval(() => {}, 1000);
    expect(await exited).toBe(1);
    clearInterval(alive);
  });

  it('exits 1 when closing fails', async () => {
    const { host, emitter, exited } = fakeHost();
    await runService({
      name: 'x',
      logger,
      host,
      start: async () => ({ close: () => Promise.reject(new Error('no')) }),
    });
    emitter.emit('SIGTERM');
    expect(await exited).toBe(1);
  });

  it('exits 1 on a rejection that nothing caught', async () => {
    const { host, emitter, exited } = fakeHost();
    await runService({ name: 'x', logger, host, start: async () => ({ close: async () => {} }) });
    emitter.emit('unhandledRejection', new Error('lost'));
    expect(await exited).toBe(1);
  });
});
