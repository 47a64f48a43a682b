import { z } from 'zod';
import { openApiDocument } from '../open-api.ts';
import { API_PAGE_CSP, apiPage } from './api-page.ts';
import { API_PAGE_STYLE } from './api-page-style.ts';
import type { JsonSchema } from './json-schema.ts';
import { exampleOf } from './schema-example.ts';
import { shapeOf } from './schema-shape.ts';

const Tree = z.object({
  name: z.string(),
  get children(): z.ZodArray<typeof Tree> {
    return z.array(Tree);
  },
});
const Body = z.strictObject({
  slug: z.string().regex(/^[a-z-]{3,}$/),
  at: z.iso.datetime(),
  share: z.int().min(5).max(90).default(50),
  kind: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('env'), env: z.string() }),
    z.strictObject({ kind: z.literal('file'), file: z.string().nullable() }),
  ]),
  prices: z.record(z.string(), z.object({ input: z.int().min(0) })),
  tags: z.array(z.string()).optional(),
});
const schemaOf = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;

describe('a shape', () => {
  it('tells every field with its type, whether it must be there, and its bounds; a union has the fields of all its kinds', () => {
    const rows = shapeOf(schemaOf(Body)).map(({ path, type, required, notes }) =>
      [path, type, required, notes].join('|'),
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        'slug|text|true|',
        'at|instant|true|',
        'share|whole number|false|5 to 90; 50 when absent',
        'kind.env|text|true|',
        'kind.file|text or null|true|',
        'prices.<name>.input|whole number|true|at least 0',
        'tags|list of text|false|',
      ]),
    );
  });

  it('of a schema that holds itself ends', () => {
    expect(shapeOf(schemaOf(Tree)).length).toBeLessThan(20);
    expect(Tree.safeParse(exampleOf(schemaOf(Tree))).success).toBe(true);
  });
});

describe('an example', () => {
  it('is what the schema takes', () => {
    expect(Body.parse(exampleOf(schemaOf(Body)))).toMatchObject({ share: 50, kind: { kind: 'env' } });
  });
});

describe('the page', () => {
  const page = apiPage(
    openApiDocument({
      title: 'Things',
      description: 'Some <b>things</b>.',
      routes: [
        {
          method: 'put',
          path: '/api/things/:id',
          summary: 'Change <one>',
          auth: 'session',
          query: z.object({ full: z.string().optional() }),
          body: Body,
          response: z.object({ ok: z.boolean() }),
        },
      ],
    }),
  );

  it('tells who may, the parameters, both shapes and the errors, and nothing of it is markup that was not meant', () => {
    expect(page).toMatch(
      /<section id="things">.*A signed-in person\..*<code>id<\/code>.*<code>kind\.env<\/code>.*Answer 200.*<code>ok<\/code>.*RFC 9457/s,
    );
    expect(page).toContain('Change &lt;one&gt;');
    expect(page).not.toMatch(/<script|<one>|<b>things/);
  });

  it('loads nothing and carries the style that its policy allows', () => {
    expect(page).not.toMatch(/ (src|style)=|<link|@import|url\(/);
    expect(page).toContain(`<style>${API_PAGE_STYLE}</style>`);
    expect(API_PAGE_CSP).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });
});
