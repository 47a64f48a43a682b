/** Every path that is served, with the method that it takes. */
const SERVED: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'POST',
  '/v1/embeddings': 'POST',
  '/v1/messages': 'POST',
  '/v1/messages/count_tokens': 'POST',
  '/v1/models': 'GET',
  '/v1/usage': 'GET',
  '/v1/key/info': 'GET',
};

/**
 * What to change where a path is almost one that is served: without `/v1` or with two of them, as a wrong base URL
 * makes it, or with a slash too many. Undefined for a path that means something else.
 *
 * @param path as it came, without its query.
 */
export function rightPathFor(path: string): string | undefined {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  const right = `/v1${plain.replace(/^(?:\/v1)+(?=\/|$)/, '')}`;
  const method = Object.hasOwn(SERVED, right) ? SERVED[right] : undefined;
  if (method === undefined || right === path) return undefined;
  return `There is nothing at this path; ${method} ${right} is meant. ${whatToChange(plain, right)}`;
}

function whatToChange(plain: string, right: string): string {
  if (plain === right) return 'Leave out the slash that is too many.';
  if (right.startsWith('/v1/messages'))
    return "Set the client's base URL to this gateway's address without /v1: Anthropic's clients add it themselves.";
  return plain.startsWith('/v1/v1')
    ? "Set the client's base URL to end in one /v1; clients of Anthropic need none."
    : "Set the client's base URL to end in /v1, as OpenAI's clients expect it.";
}
