import { createLineLog } from './line-log.ts';
import { jsonString } from './json-text.ts';

function capture() {
  const written: string[] = [];
  return { written, destination: { write: (text: string) => void written.push(text) } };
}

describe('createLineLog', () => {
  it('writes lines like those of the other logger, together, when it is told to', () => {
    const { written, destination } = capture();
    const log = createLineLog({ service: 'gateway', level: 'info', destination });
    log.info(`"key_id":"k","name":${jsonString('a "b" \u2603')}`, 1_700_000_000_123, 'call');
    log.info('"key_id":"l"', 1_700_000_000_124, 'call');
    expect(written).toEqual([]);
    log.flush();
    expect(written).toHaveLength(1);
    const lines = (written[0] ?? '')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([
      {
        level: 'info',
        time: '2023-11-14T22:13:20.123Z',
        service: 'gateway',
        key_id: 'k',
        name: 'a "b" \u2603',
        msg: 'call',
      },
      { level: 'info', time: '2023-11-14T22:13:20.124Z', service: 'gateway', key_id: 'l', msg: 'call' },
    ]);
  });

  it('loses no line, whatever their sizes', () => {
    const { written, destination } = capture();
    const log = createLineLog({ service: 's', level: 'debug', destination });
    for (let i = 0; i < 500; i += 1) log.info(`"i":${i},"text":"${'\u2603'.repeat((i * 97) % 1_000)}"`, 0, 'call');
    log.info(`"i":500,"text":"${'x'.repeat(100_000)}"`, 0, 'call');
    log.flush();
    const found = written
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { i: number }).i);
    expect(found).toEqual(Array.from({ length: 501 }, (_, i) => i));
  });

  it('says nothing where the level leaves it out', () => {
    for (const level of ['warn', 'silent', 'no such level']) {
      const { written, destination } = capture();
      const log = createLineLog({ service: 's', level, destination });
      log.info('"a":1', 0, 'call');
      log.flush();
      expect([log.enabled, written]).toEqual([false, []]);
    }
  });
});

describe('jsonString', () => {
  it.each([
    '',
    'plain',
    'a"b',
    'a\\b',
    'a\nb',
    '\u0000',
    '\u001f',
    '\u007f',
    '\u2028',
    'snow \u2603',
    'pair \ud83d\ude00',
    'half \ud83d',
    'other half \ude00',
  ])('writes %j as JSON.stringify does', (text) => {
    expect(jsonString(text)).toBe(JSON.stringify(text));
  });
});
