import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HEADER, parseApiKey, PRINCIPAL_HEADER, type Clock, type Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../../compiled-config.ts';
import type { RefusedKey } from '../../report/key-refusals.ts';
import type { Stage } from '../../stage.ts';
import { duplicateHeader } from './duplicate-header.ts';
import type { FindPerson } from './person.ts';

/** Compared with when a key id is unknown, so that both ways take the same time. */
const NO_DIGEST = Buffer.alloc(32);
const UNAUTHENTICATED: Refusal = { code: 'unauthenticated' };
/** It says nothing of either of them. */
const TWO_KEYS: Refusal = {
  code: 'unauthenticated',
  message:
    'Two different credentials were sent, one in Authorization and one in x-api-key. Send one: remove the other from the client, such as ANTHROPIC_AUTH_TOKEN beside ANTHROPIC_API_KEY.',
};

export interface AuthenticateDeps {
  clock: Clock;
  onRefusedKey?: (refused: RefusedKey) => void;
  /** Absent where nobody but keys may call. */
  findPerson?: FindPerson | undefined;
}

/**
 * Finds the key by headers alone. Every way to fail gives the same answer, so that nobody learns which keys exist. Two
 * credentials that differ are told so, whatever they are.
 */
export function createAuthenticateStage({ clock, onRefusedKey, findPerson }: AuthenticateDeps): Stage {
  return {
    name: 'authenticate',
    run(call) {
      const result = authenticateRequest(call.config, call.request, clock.now(), findPerson);
      if ('code' in result) {
        const refused = onRefusedKey === undefined ? undefined : refusedKeyOf(call.config, call.request, result);
        if (refused !== undefined) onRefusedKey?.(refused);
        return result;
      }
      call.key = result;
      return undefined;
    },
  };
}

/**
 * The key of a request, from `Authorization: Bearer` or `x-api-key`; without either, what stands for the person who
 * acts.
 *
 * @param nowMs epoch milliseconds, for the key's expiry.
 */
export function authenticateRequest(
  config: CompiledConfig,
  request: IncomingMessage,
  nowMs: number,
  findPerson?: FindPerson,
): CompiledKey | Refusal {
  const repeated = duplicateHeader(request.rawHeaders);
  if (repeated !== undefined) {
    return {
      code: 'duplicate_header',
      param: repeated,
      message: `The header '${repeated}' was sent more than once; send it once.`,
    };
  }
  if (sendsTwoKeys(request)) return TWO_KEYS;
  const text = presentedKey(request);
  if (text === undefined && findPerson !== undefined && presentsPerson(request)) return findPerson(config, request);
  const keyId = text === undefined ? undefined : parseApiKey(text)?.keyId;
  if (text === undefined || keyId === undefined) return UNAUTHENTICATED;
  const key = config.keys.get(keyId);
  const matches = timingSafeEqual(hash('sha256', text, 'buffer'), key?.digest ?? NO_DIGEST);
  if (key === undefined || !matches || key.expiresAtMs <= nowMs) return UNAUTHENTICATED;
  if (key.record.allowAddresses !== undefined && !key.allowsAddress(request.socket.remoteAddress ?? ''))
    return { code: 'address_not_allowed' };
  if (request.headers[HEADER.actWorkspace] !== undefined) return { code: 'act_workspace_refused' };
  return key;
}

/** Both headers and no sign of a key: with one the key is judged, and refused for wanting to act elsewhere. */
function presentsPerson({ headers }: IncomingMessage): boolean {
  return (
    headers[PRINCIPAL_HEADER] !== undefined &&
    headers[HEADER.actWorkspace] !== undefined &&
    headers.authorization === undefined &&
    headers['x-api-key'] === undefined
  );
}

/** What an audit record says of a refused key; undefined when no key was presented that could be one. */
export function refusedKeyOf(
  config: CompiledConfig,
  request: IncomingMessage,
  { code }: Refusal,
): RefusedKey | undefined {
  if (code === 'duplicate_header') return undefined;
  const text = presentedKey(request);
  const keyId = text === undefined ? undefined : parseApiKey(text)?.keyId;
  return keyId === undefined
    ? undefined
    : { keyId, key: config.keys.get(keyId), code, address: request.socket.remoteAddress };
}

/** True where both headers hold something and it is not the same. */
function sendsTwoKeys(request: IncomingMessage): boolean {
  const { authorization } = request.headers;
  return (
    authorization !== undefined && request.headers['x-api-key'] !== undefined && presentedKey(request) === undefined
  );
}

/** The one key that was sent; undefined when there is none, or two that differ. */
function presentedKey(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  const header = request.headers['x-api-key'];
  const apiKey = typeof header === 'string' ? header.trim() : undefined;
  if (authorization === undefined) return apiKey;
  const bearer = authorization.slice(0, 7).toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : undefined;
  if (apiKey === undefined || apiKey === bearer) return bearer;
  return undefined;
}
