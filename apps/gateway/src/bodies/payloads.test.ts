import { bytesFloor, payloadTokens } from '../metering/estimator.ts';
import { NO_PAYLOADS, payloadsIn } from './payloads.ts';

const data = 'A'.repeat(1_000);
const url = `data:image/png;base64,${data}`;
const says = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

describe('images, audio and files of a body', () => {
  it.each([
    ['an image of a chat completion', says({ type: 'image_url', image_url: { url } }), 1, url.length],
    [
      'an image of a response',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
      1,
      url.length,
    ],
    ['an image of a message', says({ type: 'image', source: { type: 'base64', data } }), 1, 1_000],
    [
      'an image in the result of a tool',
      says({ type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data } }] }),
      1,
      1_000,
    ],
    ['an image elsewhere', says({ type: 'image_url', image_url: { url: 'https://example.com/x.png' } }), 1, 0],
    ['a document', says({ type: 'document', source: { type: 'base64', data } }), 0, 1_000],
    ['audio', says({ type: 'input_audio', input_audio: { data, format: 'wav' } }), 0, 1_000],
    ['a file', says({ type: 'file', file: { file_data: data } }), 0, 1_000],
  ])('%s is recognised', (_what, body, images, bytes) => {
    expect(payloadsIn(body)).toMatchObject({ images, bytes });
  });

  it('are nothing that stands elsewhere, whatever it looks like', () => {
    expect(
      payloadsIn({
        pad: url,
        messages: [{ role: 'user', content: url, pad: says({ type: 'image', source: { type: 'base64', data } }) }],
      }),
    ).toEqual(NO_PAYLOADS);
    expect(payloadsIn(says({ type: 'text', text: url, image_url: { url } }))).toEqual(NO_PAYLOADS);
  });

  it('count what they are expected to, and far less than text at least', () => {
    const image = { images: 1, imageBytes: 2_048_000, bytes: 2_048_000 };
    expect(payloadTokens(image)).toBe(1_600);
    expect(bytesFloor(2_048_000 + 80, image)).toBe(1_010);
    expect(bytesFloor(2_048_000, NO_PAYLOADS)).toBe(256_000);
  });
});
