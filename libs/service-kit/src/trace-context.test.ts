import { childTraceparent, formatTraceparent, parseTraceparent } from './trace-context.ts';

const HEADER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('trace context', () => {
  it('reads what it writes', () => {
    const context = parseTraceparent(HEADER);
    expect(context).toEqual({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true });
    expect(context && formatTraceparent(context)).toBe(HEADER);
  });

  it.each([
    undefined,
    '',
    'garbage',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    `${HEADER}-extra`,
    HEADER.toUpperCase(),
  ])('starts anew from %p', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it('accepts a later version with more fields', () => {
    expect(parseTraceparent(`01${HEADER.slice(2)}-extra`)?.sampled).toBe(true);
  });

  it('keeps the trace and the sampling of the parent in a child with a span of its own', () => {
    const child = parseTraceparent(childTraceparent(parseTraceparent(HEADER)));
    expect(child).toMatchObject({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', sampled: true });
    expect(child?.spanId).not.toBe('00f067aa0ba902b7');
  });

  it('starts a valid unsampled trace without a parent', () => {
    expect(parseTraceparent(childTraceparent(undefined))?.sampled).toBe(false);
  });
});
