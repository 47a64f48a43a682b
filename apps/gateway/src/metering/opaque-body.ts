type Body = Readonly<Record<string, unknown>>;

/** Parts whose tokens are in the bytes of the body. */
const PLAIN_PARTS: ReadonlySet<unknown> = new Set([
  undefined,
  'text',
  'input_text',
  'output_text',
  'refusal',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
]);
/** Tools that run at the caller. */
const PLAIN_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom']);
/** Members that bring input from elsewhere, or output that is never sent. */
const REFERENCES = ['previous_response_id', 'mcp_servers', 'web_search_options', 'search_parameters', 'prediction'];
const MAX_DEPTH = 4;

/**
 * True for a body that names input which is not in its bytes, such as an image by its address, a file by its id or a
 * tool that searches: the number of its bytes bounds no count of tokens then.
 */
export function isOpaqueBody(body: Body): boolean {
  for (const name of REFERENCES) if (body[name] !== undefined && body[name] !== null) return true;
  return hasOther(body.tools, PLAIN_TOOLS) || hasOpaqueParts(body.messages, MAX_DEPTH);
}

function hasOther(tools: unknown, plain: ReadonlySet<unknown>): boolean {
  return Array.isArray(tools) && tools.some((tool) => !plain.has(typeOf(tool)));
}

function hasOpaqueParts(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false;
  if (depth === 0) return true;
  return value.some((part) => !PLAIN_PARTS.has(typeOf(part)) || hasOpaqueParts(contentOf(part), depth - 1));
}

function contentOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { content?: unknown }).content : undefined;
}

function typeOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined;
}
