import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERROR_CATALOGUE, type ErrorEntry, SluiceError } from './errors.ts';
import { OUTCOMES } from './outcomes.ts';

const entries: [string, ErrorEntry][] = Object.entries(ERROR_CATALOGUE);

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    return name.endsWith('.ts') && !name.endsWith('.test.ts') ? [path] : [];
  });
}

describe('the error catalogue', () => {
  it.each(entries)('%s has a status of its kind in both dialects and a sentence for people', (_code, entry) => {
    for (const status of [entry.status.openai, entry.status.anthropic])
      expect(status >= 400 && status <= 599).toBe(true);
    expect(entry.publicText).toMatch(/\.$|…`\.$/);
    expect(entry.publicText.length).toBeGreaterThan(15);
    expect(OUTCOMES).toContain(entry.outcome);
  });

  it('answers the statuses of the design', () => {
    const status = (code: keyof typeof ERROR_CATALOGUE) => [
      ERROR_CATALOGUE[code].status.openai,
      ERROR_CATALOGUE[code].status.anthropic,
    ];
    expect(status('unauthenticated')).toEqual([401, 401]);
    expect(status('quota')).toEqual([402, 402]);
    expect(status('shed')).toEqual([503, 529]);
    expect(status('throttled')).toEqual([429, 429]);
    expect(status('workspace_unknown')).toEqual([421, 421]);
    expect(status('upstream_account')).toEqual([502, 502]);
    expect(status('upstream_timeout')).toEqual([504, 504]);
  });

  it('is complete both ways: the gateway uses no code that is not in it, and none stands in it that nothing uses', () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const text = ['apps/gateway/src', 'libs/providers/src', 'libs/limits/src']
      .flatMap((folder) => sources(join(root, folder)))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    const reserved = [
      'unsupported_field',
      'guardrail_blocked',
      'idempotency_in_progress',
      'idempotency_mismatch',
      'caller_deadline',
      'permission_denied',
    ];
    const unused = entries
      .map(([code]) => code)
      .filter((code) => !reserved.includes(code) && !text.includes(`'${code}'`));
    expect(unused).toEqual([]);
    const used = [...text.matchAll(/\bcode: '([a-z_]+)'/g)].map((match) => match[1] as string);
    expect(used.filter((code) => !(code in ERROR_CATALOGUE))).toEqual([]);
    expect(used.length).toBeGreaterThan(20);
  });

  it('a thrown error keeps its internal text apart from what may be shown', () => {
    const error = new SluiceError('internal', 'password of db-1 is wrong');
    expect(error.publicText).not.toContain('password');
    expect(error.retryable).toBe(true);
  });
});
