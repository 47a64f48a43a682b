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

describe('an error in a log line', () => {
  /** What drizzle throws when PostgreSQL refuses a value: every value of the statement, in words and in fields. */
  function failedQuery(): Error {
    const refused = Object.assign(new Error('invalid input syntax for type integer: "sekret-1"'), {
      code: '22P02',
      severity: 'ERROR',
      detail: 'Key (email)=(sekret-2) already exists.',
      where: "unnamed portal parameter $1 = 'sekret-3'",
      table: 'users',
      parameters: ['sekret-4'],
    });
    const query = 'insert into users values ($1)';
    return Object.assign(new Error(`Failed query: ${query}\nparams: sekret-5,sekret-6`, { cause: refused }), {
      query,
      params: ['sekret-5'],
    });
  }

  it.each([
    ['itself', (error: Error) => ({ err: error })],
    ['as the cause of another', (error: Error) => ({ err: new Error('a request failed', { cause: error }) })],
    ['among others', (error: Error) => ({ err: new AggregateError([error], 'several') })],
    ['under another name', (error: Error) => ({ error })],
  ])('shows nothing that a statement was given: %s', (_how, fields) => {
    const { lines, destination } = capture();
    createLogger({ service: 's', level: 'info', destination }).error(fields(failedQuery()), 'request failed');
    expect(lines.join('')).not.toContain('sekret');
    expect(lines.join('')).toContain('22P02');
  });

  it('shows nothing of it when the error is all that is logged', () => {
    const { lines, destination } = capture();
    const logger = createLogger({ service: 's', level: 'info', destination });
    logger.error(failedQuery());
    logger.error({ err: failedQuery() });
    logger.error(failedQuery(), 'with %s', 'words');
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toContain('sekret');
  });

  it('still says what happened and where', () => {
    const { lines, destination } = capture();
    createLogger({ service: 's', level: 'info', destination }).error({ err: failedQuery() }, 'request failed');
    const { err } = JSON.parse(lines[0] ?? '') as { err: { message: string; stack: string; cause: { table: string } } };
    expect([err.message, err.cause.table]).toEqual(['Failed query: invalid input syntax for type integer', 'users']);
    expect(err.stack).toContain('logger.test');
  });
});
