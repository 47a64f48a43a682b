import { z } from 'zod';
import { CONFIG_ROW } from '@sluice/contracts';
import { createIds } from '@sluice/service-kit';
import { createFakeClock } from '@sluice/testing';
import type { Executor } from '../db/open-database.ts';
import { demoSeed } from '../testing/demo-seed.ts';
import { createAudit } from './create-audit.ts';
import { redactState, redactText } from './redact.ts';
import { HIDDEN_FIELDS, NAMED_BY_USER, NAMES_ONLY, SHOWN_FIELDS } from './shown-fields.ts';

const clock = createFakeClock(Date.UTC(2026, 2, 10));
const nowhere = { execute: async () => ({ rows: [] }) } as unknown as Executor;

/** Secrets as they look where people put them by mistake, and bare ones in fields that are made for them. */
const LOOKS = (n: number) => [
  `sk-sluice-key${n}abcd-${'Zq9'.repeat(10)}${n}`,
  `Bearer abc${n}.def`,
  `password=hunter${n}!`,
  `eyJhbGciOiJIUzI1NiJ9.payload${n}.sig`,
  `https://user:pass${n}word@host/x`,
  `-----BEGIN PRIVATE KEY-----\nMIIE${n}xyz\n-----END PRIVATE KEY-----`,
];
const SECRET_FIELDS = [
  'password',
  'digest',
  'ciphertext',
  'token',
  'apiKey',
  'authorization',
  'cookie',
  'secretValue',
  'private_key',
  'webhookSecret',
  'principalKey',
];
const needle = (n: number) => `bare${n}secretbare${n}`;

/** A state with a secret in every place: as a value, as a key, in lists, in maps, deep inside. */
function planted(n: number, depth: number): { state: unknown; secrets: string[] } {
  const looks = LOOKS(n);
  const look = looks[n % looks.length] ?? '';
  const secretOf = look.match(/sk-\S+|abc\d+\.def|hunter\d+!|payload\d+|pass\d+word|MIIE\d+xyz/)?.[0] ?? '';
  const names = [...SHOWN_FIELDS];
  const state: Record<string, unknown> = {};
  const secrets = [secretOf, needle(n)];
  for (let i = 0; i < 8; i += 1)
    state[names[(n * 7 + i * 13) % names.length] ?? 'name'] =
      i % 2 === 0 ? `before ${look} after` : [look, { name: look }];
  for (const [i, field] of SECRET_FIELDS.entries())
    state[i % 2 === 0 ? field : `x_${field}`] = i % 3 === 0 ? needle(n) : { value: needle(n), name: needle(n) };
  state['headers'] = { authorization: needle(n), [`h ${look}`]: 'x' };
  state['tags'] = { team: needle(n) };
  state['aliases'] = { [look]: look };
  state['baseUrl'] = `https://u:${needle(n)}@api.example/v1?key=${needle(n)}`;
  state[look] = look;
  if (depth > 0) {
    const inner = planted(n + 1, depth - 1);
    state['policy'] = inner.state;
    state['credentials'] = [{ secret: inner.state }];
    secrets.push(...inner.secrets);
  }
  return { state, secrets };
}

describe('an audit record', () => {
  it('holds none of the secrets that are fed to it anywhere, in 600 states', async () => {
    const audit = createAudit({ clock, ids: createIds({ clock }) });
    for (let n = 0; n < 600; n += 1) {
      const { state, secrets } = planted(n, n % 4);
      const [look = ''] = secrets;
      const event = await audit.record(nowhere, {
        type: 'provider.changed',
        actor: { kind: 'operator', id: `ops ${LOOKS(n)[n % 6]}`.slice(0, 200) },
        target: { kind: 'providers', id: `${LOOKS(n)[n % 6]}`.slice(0, 200) },
        before: state,
        after: [state],
        reason: `because ${LOOKS(n)[n % 6]}`,
      });
      const message = JSON.stringify(event);
      for (const secret of secrets) expect([n, secret, message.includes(secret)]).toEqual([n, secret, false]);
      expect(look.length).toBeGreaterThan(5);
    }
  });

  it('shows a whole configuration but for digests, values of headers and tags', () => {
    const { tenants, workspaces, plans, providers, models } = demoSeed();
    for (const row of [...tenants, ...workspaces, ...plans, ...providers, ...models]) {
      expect(JSON.stringify(redactState(row))).not.toContain('[not shown]');
      expect(redactState(row)).toEqual({
        ...row,
        ...('headers' in row && { headers: Object.keys(row.headers ?? {}) }),
      });
    }
  });

  it('marks what it does not show, bounds what is long, and takes what a database refuses', () => {
    expect(redactState({ name: 'a', digest: 'ff', 'no name!': 1 })).toEqual({
      name: 'a',
      digest: '[not shown]',
      other: '[not shown]',
    });
    expect(redactText('a\u0000b\ud800')).toBe('a\ufffdb\ufffd');
    expect(redactText('x'.repeat(2_000))).toMatch(/^x{500}… \(2000 characters\)$/);
    expect(JSON.stringify(redactState({ kinds: Array.from({ length: 5_000 }, (_, i) => `k${i}`) }))).toContain(
      '4900 more',
    );
    const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`alias-${i}`, 'x'.repeat(100)]));
    expect(redactState({ aliases: wide })).toMatchObject({ message: expect.stringMatching(/bytes/) });
    const loop: Record<string, unknown> = { name: 'a' };
    loop['policy'] = loop;
    expect(JSON.stringify(redactState(loop)).length).toBeLessThan(1_000);
    expect(redactState(JSON.parse('{"__proto__":{"name":"x"},"name":"b"}'))).toEqual({ name: 'b' });
  });
});

describe('the list of shown fields', () => {
  it('has a decision on every field of the configuration', () => {
    const undecided = new Set<string>();
    const walk = (schema: unknown, free: boolean): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties = {}, ...others } = schema as { properties?: Record<string, unknown> };
      for (const [name, inner] of Object.entries(properties)) {
        if (
          !free &&
          !SHOWN_FIELDS.has(name) &&
          !HIDDEN_FIELDS.has(name) &&
          !NAMED_BY_USER.has(name) &&
          !NAMES_ONLY.has(name)
        )
          undecided.add(name);
        walk(inner, false);
      }
      for (const inner of Object.values(others)) walk(inner, false);
    };
    for (const row of Object.values(CONFIG_ROW))
      walk(z.toJSONSchema(row, { io: 'input', unrepresentable: 'any' }), false);
    expect([...undecided]).toEqual([]);
  });

  it('shows nothing that is hidden', () => {
    for (const name of HIDDEN_FIELDS) expect(SHOWN_FIELDS.has(name)).toBe(false);
    for (const name of SECRET_FIELDS) expect(SHOWN_FIELDS.has(name)).toBe(false);
  });
});
