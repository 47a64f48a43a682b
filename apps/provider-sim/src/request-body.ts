import type { IncomingMessage } from 'node:http';
import { isObject, Refusal, type JsonObject } from './sim-call.ts';

const BODY_MAX_BYTES = 32 * 1024 * 1024;

/** Hands the whole body over, or a Refusal 413 when it is too large. Nothing is called when the caller goes away. */
export function readBody(req: IncomingMessage, done: (body: Buffer | Refusal) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  req.on('data', (part: Buffer) => {
    size += part.length;
    if (size <= BODY_MAX_BYTES) parts.push(part);
  });
  req.on('end', () => {
    if (size > BODY_MAX_BYTES) return done(new Refusal(413, 'The request body is too large'));
    done(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));
  });
}

/** @throws Refusal 400 when the body is no JSON object. */
export function parseObject(body: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'The request body is not valid JSON');
  }
  if (!isObject(value)) throw new Refusal(400, 'The request body must be a JSON object');
  return value;
}
