import type { Route } from './route.ts';

/** A page that lists the routes: one file, nothing loaded from anywhere. */
export function docsPage(title: string, routes: readonly Route[]): string {
  const tags = [...new Set(routes.map((route) => route.tag))];
  const sections = tags.map((tag) => `<h2>${escapeHtml(tag)}</h2><table>${routes.filter((route) => route.tag === tag).map(row).join('')}</table>`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1><p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>${sections.join('')}</body></html>`;
}

const STYLE =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'table{border-collapse:collapse;width:100%}td{padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}code{font:13px ui-monospace,monospace}';

function row(route: Route): string {
  const cells = [`<code>${route.method.toUpperCase()}</code>`, `<code>${escapeHtml(route.path)}</code>`, escapeHtml(route.auth), escapeHtml(route.summary)];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
