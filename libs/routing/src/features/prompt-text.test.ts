import { promptText } from './prompt-text.ts';

const user = (content: unknown) => ({ role: 'user', content });

describe('the text that features are computed from', () => {
  it('is the same of the same words in every dialect', () => {
    const words = 'Why is the sky blue?';
    const bodies = [
      { messages: [{ role: 'system', content: 'Be brief.' }, user(words)] },
      {
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
          user([{ type: 'text', text: words }]),
        ],
      },
      { system: 'Be brief.', messages: [user(words)] },
      {
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [user([{ type: 'text', text: words }])],
      },
      { instructions: 'Be brief.', input: words },
      { instructions: 'Be brief.', input: [user([{ type: 'input_text', text: words }])] },
    ];
    expect(new Set(bodies.map(promptText))).toEqual(new Set([`${words}\nBe brief.`]));
  });

  it('is what the person said last, not what models and tools said', () => {
    const messages = [
      user('zero'),
      user('one'),
      { role: 'assistant', content: 'answer' },
      user('two'),
      { role: 'tool', content: 'result' },
      user('three'),
      user([{ type: 'tool_result', content: 'file' }]),
    ];
    expect(promptText({ messages })).toBe('three\ntwo\none');
  });

  it('is bounded in all and in instructions, in every dialect alike, and the newest turn comes first', () => {
    const long = 'x'.repeat(9_000);
    const part = { type: 'text', text: long };
    expect(promptText({ messages: [user('older'), user(long)] })).toBe(`${long}\nolder`);
    for (const content of [`${long}\n${long}`, [part, part], [part, part, part]])
      expect(promptText({ messages: [user('older'), user(content)] })).toBe(`${long}\n${long}`.slice(0, 16_384));
    expect(promptText({ system: 's'.repeat(5_000), messages: [user('x')] })).toHaveLength(1_026);
  });

  it.each<[Record<string, unknown>]>([
    [{}],
    [{ messages: 7 }],
    [{ messages: [null, 3, { role: 'user' }, user(null), user([null, 5, { type: 'image' }])] }],
    [{ input: {}, system: 4 }],
  ])('is empty where there is none, whatever the body holds: %j', (body) => {
    expect(promptText(body)).toBe('');
  });
});
