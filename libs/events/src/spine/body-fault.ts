import { MAX_EVENT_BYTES, MAX_EVENT_DEPTH } from '@sluice/contracts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** How deep objects and arrays stand in one another in a JSON text, without building any of them. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest;
}

/** Why no handler may be given this body, or undefined. Nothing of the body is in the answer. */
export function bodyFault(body: string): string | undefined {
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_EVENT_BYTES) return `the body has ${bytes} bytes, at most ${MAX_EVENT_BYTES} are read`;
  const depth = depthOf(body);
  if (depth > MAX_EVENT_DEPTH) return `the body is nested ${depth} deep, at most ${MAX_EVENT_DEPTH} are read`;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? undefined
      : 'the body is not a JSON object';
  } catch {
    return 'the body is not JSON';
  }
}
