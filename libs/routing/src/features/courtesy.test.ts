import { withoutCourtesy } from './courtesy.ts';

const ASKED = 'Who ruled France in 1700, and why?';

describe('courtesy around a prompt', () => {
  it.each([
    'Please tell me: ',
    'Hi, quick one. ',
    'HELLO THERE!\n\n',
    'Good morning. I have a question for you: ',
    'Thanks in advance! ',
    'Could you help me with this? ',
  ])('is taken away before it: %j', (opening) => {
    expect(withoutCourtesy(opening + ASKED).trim()).toBe(ASKED);
  });

  it.each([' Thank you very much!', '\nThanks.', ' Please help me. Many thanks in advance!', '\n\nKind regards'])(
    'is taken away behind it: %j',
    (closing) => {
      expect(withoutCourtesy(ASKED + closing).trim()).toBe(ASKED);
    },
  );

  it.each([
    ASKED,
    'What is the answer? A) yes B) no',
    'I have one. You have two. How many are there?',
    'Translate into French: thank you, my friend, for the fish',
    '________, where one party has more resources than the other',
    'hi',
    'Hello! Please help me. Thanks!',
    '',
    ' \n',
  ])('leaves a prompt as it is that has none, or is nothing else: %j', (prompt) => {
    expect(withoutCourtesy(prompt)).toBe(prompt);
  });

  it('is looked for near the ends alone, however long the prompt is', () => {
    const long = `${'please '.repeat(20_000)}. ${ASKED}`;
    expect(withoutCourtesy(long)).toBe(long);
  });
});
