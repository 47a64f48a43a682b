import { jest } from '@jest/globals';
import fc from 'fast-check';
import { createSseDecoder, type SseEvent } from './sse-codec.ts';

function decode(bytes: Buffer, cuts: readonly number[], cap?: number): SseEvent[] {
  const decoder = createSseDecoder(cap);
  const events: SseEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length].filter((at) => at <= bytes.length).sort((a, b) => a - b)) {
    if (cut > from) events.push(...decoder.push(bytes.subarray(from, cut)));
    from = Math.max(from, cut);
  }
  return events;
}

const plain = (events: SseEvent[]) =>
  events.map(({ event, data, bytes }) => ({ event, data, bytes: bytes.toString('latin1') }));

describe('the SSE codec', () => {
  it('reads names, several data lines, comments and lone fields', () => {
    expect(plain(decode(Buffer.from('\ufeffevent: a\ndata: 1\ndata:2\n\n: hi\n\nid: 7\ndata\n\n'), []))).toMatchObject([
      { event: 'a', data: '1\n2' },
      { event: '', data: undefined },
      { event: '', data: '' },
    ]);
  });

  it('gives the same events for any split of the bytes and any line ending', () => {
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    const block = fc.record({
      name: fc.constantFrom('', 'x', 'message_stop'),
      data: fc.array(
        fc.string({ unit: 'grapheme' }).map((s) => s.replace(/[\r\n]/g, '')),
        { minLength: 1, maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 5 }),
        ending,
        fc.array(fc.nat(400), { maxLength: 20 }),
        (blocks, eol, cuts) => {
          const text = blocks
            .map(
              ({ name, data }) =>
                `${name === '' ? '' : `event: ${name}${eol}`}${data.map((line) => `data: ${line}${eol}`).join('')}${eol}`,
            )
            .join('');
          // A CR at the very end of the bytes cannot be told from the first half of CRLF, so the stream goes on a little.
          const bytes = Buffer.from(`${text}: end${eol}`);
          const whole = decode(bytes, []);
          expect(plain(decode(bytes, cuts))).toEqual(plain(whole));
          expect(whole.map(({ event, data }) => ({ event, data }))).toEqual(
            blocks.map(({ name, data }) => ({ event: name, data: data.join('\n') })),
          );
        },
      ),
    );
  });

  it('copies the bytes of an event a few times at most, in however many pieces it comes', () => {
    let copied = 0;
    const copy = jest.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer, ...args: unknown[]) {
      const [target, at = 0, from = 0, to = this.length] = args as [Uint8Array, number?, number?, number?];
      copied += to - from;
      target.set(this.subarray(from, to), at);
      return to - from;
    });
    const concat = jest.spyOn(Buffer, 'concat').mockImplementation((list) => {
      const joined = Buffer.alloc(list.reduce((sum, { length }) => sum + length, 0));
      copied += joined.length;
      list.reduce((at, bytes) => (joined.set(bytes, at), at + bytes.length), 0);
      return joined;
    });
    try {
      const line = Buffer.from('data: 1234\n');
      const decoder = createSseDecoder();
      for (let i = 0; i < 10_000; i += 1) expect(decoder.push(line)).toEqual([]);
      const [event] = decoder.push(Buffer.from('\n'));
      expect(event?.bytes).toHaveLength(110_001);
      expect(copied).toBeLessThan(5 * 110_001);
    } finally {
      copy.mockRestore();
      concat.mockRestore();
    }
  });

  it('an endless line is refused, not collected', () => {
    const decoder = createSseDecoder(1000);
    expect(() => {
      for (let i = 0; i < 100; i += 1) decoder.push(Buffer.from(`data: ${'x'.repeat(100)}`));
    }).toThrow(/longer than the cap/);
  });

  it('an event of endless many lines is refused as well', () => {
    const decoder = createSseDecoder(1000);
    expect(() => {
      for (let i = 0; i < 100; i += 1) decoder.push(Buffer.from(`data: ${'x'.repeat(100)}\n`));
    }).toThrow(/longer than the cap/);
  });
});
