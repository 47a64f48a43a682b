import { estimatedInput } from './estimated-input.ts';

describe('the input of a call that nobody counted', () => {
  it('is what was expected, where that is more than its text', () => {
    expect(estimatedInput(50, { messages: [{ role: 'user', content: 'x'.repeat(40) }] })).toBe(50);
  });
  it('is never less than its text, whatever earlier calls have taught', () => {
    expect(estimatedInput(1, { messages: [{ role: 'user', content: 'x'.repeat(4_000) }] })).toBe(1_000);
    expect(
      estimatedInput(1, {
        system: [{ type: 'text', text: 'x'.repeat(400) }],
        messages: [
          { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'x'.repeat(40) }] }] },
        ],
      }),
    ).toBe(110);
    expect(estimatedInput(1, { input: ['x'.repeat(40), 'x'.repeat(40)] })).toBe(20);
  });
  it('counts no bytes of images, which say nothing about tokens', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(10_000)}` } };
    expect(
      estimatedInput(7, { messages: [{ role: 'user', content: [image, { type: 'text', text: 'What is it?' }] }] }),
    ).toBe(7);
  });
});
