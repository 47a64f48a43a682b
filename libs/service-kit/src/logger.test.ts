import { createLogger } from './logger.ts';

function capture() {
  const lines: string[] = [];
  return { lines, destination: { write: (line: string) => void lines.push(line) } };
}

describe('createLogger', () => {
  it('writes JSON lines that name the service and spell the level', () => {
    const { lines, destination } = capture();
    createLogger({ service: 'router', level: 'info', destination }).info({ port: 1 }, 'up');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ service: 'router', level: 'info', msg: 'up', port: 1 });
  });

  it('never writes credentials, wherever they stand in a logged request', () => {
    const { lines, destination } = capture();
    createLogger({ service: 's', level: 'info', destination }).info({
      authorization: 'Bearer sekret',
      req: { headers: { authorization: 'Bearer sekret', 'x-api-key': 'sekret', cookie: 'sekret' }, password: 'sekret' },
      user: { password: 'sekret', token: 'sekret' },
    });
    expect(lines.join('')).not.toContain('sekret');
  });

  it('says nothing below its level', () => {
    const { lines, destination } = capture();
    createLogger({ service: 's', level: 'warn', destination }).info('quiet');
    expect(lines).toEqual([]);
  });
});
