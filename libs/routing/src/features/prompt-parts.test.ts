import { promptParts } from './prompt-parts.ts';

describe('what messages hold beside text', () => {
  it.each([
    [
      'an image of the first dialect',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
      { images: true, audio: false },
    ],
    [
      'an image of the second dialect',
      [{ role: 'user', content: [{ type: 'input_image' }] }],
      { images: true, audio: false },
    ],
    [
      'an image inside the result of a tool',
      [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'image' }] }] }],
      { images: true, audio: false },
    ],
    ['sound', [{ role: 'user', content: [{ type: 'text' }, { type: 'input_audio' }] }], { images: false, audio: true }],
    ['text that speaks of an image', [{ role: 'user', content: 'type: image' }], { images: false, audio: false }],
  ])('is found: %s', (_what, messages, found) => {
    expect(promptParts(messages)).toEqual(found);
  });

  it('is looked for in all that is given, and a value without end is not followed', () => {
    expect(promptParts(undefined, [{ content: [{ type: 'audio' }] }])).toEqual({ images: false, audio: true });
    const endless: { content?: unknown } = {};
    endless.content = [endless];
    expect(promptParts([endless], null, 3, 'x')).toEqual({ images: false, audio: false });
  });
});
