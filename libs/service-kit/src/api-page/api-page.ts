import { createHash } from 'node:crypto';
import { API_PAGE_STYLE } from './api-page-style.ts';
import type { JsonSchema } from './json-schema.ts';
import { exampleOf } from './schema-example.ts';
import { shapeOf, typeOf } from './schema-shape.ts';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

/** As much of an OpenAPI operation as the page tells. */
interface Operation {
  readonly summary: string;
  /** Who may call it, in a sentence. */
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

/** As much of an OpenAPI 3.1 document as the page tells. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The policy that the page needs: its own style and nothing else. */
export const API_PAGE_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(API_PAGE_STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Rows of a shape that are shown; the machine-readable description has the others. */
const ROWS = 60;

/**
 * A page for people of an OpenAPI document: by area; who may, shapes, examples, errors. One file without scripts,
 * nothing is loaded.
 */
export function apiPage({ info, paths }: ApiDocument): string {
  const areas = new Map<string, { method: string; path: string; operation: Operation }[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods) as [string, Operation][]) {
      const area = operation.tags?.[0] ?? areaOf(path);
      areas.set(area, [...(areas.get(area) ?? []), { method, path, operation }]);
    }
  }
  const sorted = [...areas].sort(([a], [b]) => (a < b ? -1 : 1));
  const links = sorted.map(
    ([area, routes]) => `<li><a href="#${anchor(area)}">${escapeHtml(area)}</a> <small>${routes.length}</small></li>`,
  );
  const sections = sorted.map(
    ([area, routes]) =>
      `<section id="${anchor(area)}"><h2>${escapeHtml(area)}</h2>${routes.map(routeHtml).join('')}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(info.title)}: API</title><style>${API_PAGE_STYLE}</style></head>
<body><header><h1>${escapeHtml(info.title)}</h1><p>${escapeHtml(info.description ?? '')} Machine-readable: <a href="openapi.json">openapi.json</a>.</p></header>
<div class="page"><nav aria-label="Areas"><ul>${links.join('')}</ul></nav><main>${sections.join('')}</main></div></body></html>`;
}

function routeHtml({ method, path, operation }: { method: string; path: string; operation: Operation }): string {
  const { parameters = [], requestBody, responses, summary, description } = operation;
  const good = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const errors = Object.entries(responses).filter(([status]) => !status.startsWith('2'));
  return `<details id="${anchor(`${method}-${path}`)}"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path).replaceAll('/', '/<wbr>')}</code> <span>${escapeHtml(summary)}</span></summary>
<p><strong>Who may:</strong> ${escapeHtml(description ?? 'Not told.')}</p>${parameterTable(parameters)}${requestBody === undefined ? '' : `<h3>Body</h3>${bodyHtml(requestBody, 'Body of', path)}`}
${good === undefined ? '' : `<h3>Answer ${good[0]}</h3>${bodyHtml(good[1], 'Answer of', path)}`}
<h3>Errors</h3><ul class="errors">${errors.map(([status, error]) => `<li><code>${status === 'default' ? 'others' : status}</code> ${escapeHtml(error.description)}</li>`).join('')}</ul></details>`;
}

function parameterTable(parameters: NonNullable<Operation['parameters']>): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((one) => {
    const [row] = shapeOf({ properties: { [one.name]: one.schema } });
    const notes = [one.description, row?.notes].filter((note) => note !== undefined && note !== '').join('; ');
    return `<tr><th scope="row"><code>${escapeHtml(one.name)}</code></th><td>${one.in}</td><td>${escapeHtml(row?.type ?? 'text')}</td><td>${one.required === true ? 'needed' : 'optional'}</td><td>${escapeHtml(notes)}</td></tr>`;
  });
  return `<h3>Parameters</h3>${table('Parameters', ['name', 'in', 'type', 'needed', 'notes'], rows)}`;
}

function bodyHtml({ content }: Content, what: string, path: string): string {
  if (content === undefined) return '<p>Nothing.</p>';
  const [[type, { schema }] = ['', { schema: undefined }]] = Object.entries(content);
  if (schema === undefined) return `<p><code>${escapeHtml(type)}</code></p>`;
  const shape = shapeOf(schema);
  const rows = shape
    .slice(0, ROWS)
    .map(
      (row) =>
        `<tr><th scope="row"><code>${escapeHtml(row.path)}</code></th><td>${escapeHtml(row.type)}</td><td>${row.required ? 'always' : 'optional'}</td><td>${escapeHtml(row.notes)}</td></tr>`,
    );
  const more =
    shape.length > ROWS
      ? `<p>And ${shape.length - ROWS} more fields: they are in <a href="openapi.json">openapi.json</a>.</p>`
      : '';
  const fields =
    shape.length === 0
      ? `<p>${escapeHtml(typeOf(schema, schema))}</p>`
      : `${table(`${what} ${path}`, ['field', 'type', 'there', 'notes'], rows)}${more}`;
  return `${fields}<pre tabindex="0" aria-label="Example"><code>${escapeHtml(JSON.stringify(exampleOf(schema), null, 2))}</code></pre>`;
}

function table(label: string, heads: readonly string[], rows: readonly string[]): string {
  return `<div class="wide" tabindex="0" role="group" aria-label="${escapeHtml(label)}"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** Without areas of its own: `/api/keys/{id}` belongs to `Keys`. */
function areaOf(path: string): string {
  const word =
    path.split('/').filter((part) => part !== '' && part !== 'api' && part !== 'v1' && !part.startsWith('{'))[0] ??
    'General';
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const anchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
