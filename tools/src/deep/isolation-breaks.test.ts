import { readText } from '../docs/read-repository.ts';
import { ISOLATION_BREAKS } from './isolation-breaks.ts';
import { SHARED_BREAKS } from './shared-breaks.ts';

describe('the deliberate breaks of the isolation', () => {
  it.each([...ISOLATION_BREAKS, ...SHARED_BREAKS])('$name: still finds what it breaks, once', ({ edits }) => {
    for (const { file, find, put } of edits) {
      const text = readText(file);
      expect([file, text.split(find).length - 1]).toEqual([file, 1]);
      expect(put).not.toBe(find);
    }
  });
});
