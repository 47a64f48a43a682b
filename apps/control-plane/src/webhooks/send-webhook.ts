import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { checkTarget, type Resolve } from './address-guard.ts';

const TIMEOUT_MS = 10_000;

/** How one attempt went: a status, or why there is none, in words that say nothing of the receiver's answer. */
export type SendResult = { readonly status: number } | { readonly error: string };

export type SendWebhook = (url: string, body: string, headers: Readonly<Record<string, string>>) => Promise<SendResult>;

/**
 * Posts to a webhook. The name is resolved and checked anew for every attempt and the connection goes to the
 * checked address. Redirects are not followed, the answer's body is not read.
 */
export function createSendWebhook(options: {
  resolve: Resolve;
  allowLoopback: boolean;
  timeoutMs?: number;
}): SendWebhook {
  const { resolve, allowLoopback, timeoutMs = TIMEOUT_MS } = options;
  return async (text, body, headers) => {
    const url = new URL(text);
    const target = await checkTarget(url, { resolve, allowLoopback });
    if ('refused' in target) return { error: `the address ${target.refused}` };
    return post(url, target.address, body, headers, timeoutMs);
  };
}

function post(
  url: URL,
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<SendResult> {
  return new Promise((done) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const call = send(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'sluice-webhook',
      },
      agent: false,
      // The name stays in Host and in the certificate check; the address is the one that was checked.
      lookup: (_host, { all }, callback) => {
        const family = isIP(address);
        if (all === true) callback(null, [{ address, family }]);
        else callback(null, address, family);
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    call.on('response', (res) => {
      done({ status: res.statusCode ?? 0 });
      res.destroy();
    });
    call.on('error', (error: NodeJS.ErrnoException) =>
      done({
        error:
          error.name === 'AbortError' || error.name === 'TimeoutError'
            ? `no answer within ${timeoutMs / 1000} s`
            : faultInWords(error.code),
      }),
    );
    // After an answer this changes nothing; an answer that switches protocols ends without one and without an error.
    call.on('close', () => done({ error: 'the connection was cut' }));
    call.end(body);
  });
}

function faultInWords(code: string | undefined): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ECONNRESET':
      return 'the connection was cut';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'the host cannot be reached';
    default:
      return code?.startsWith('ERR_TLS') === true || code?.includes('CERT') === true
        ? 'the certificate is not valid'
        : 'the connection failed';
  }
}
