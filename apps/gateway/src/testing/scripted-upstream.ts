import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the upstream treats one request; its body has been read. */
export type Script = (response: ServerResponse, request: IncomingMessage, body: string) => void;

export interface ScriptedUpstream {
  readonly url: string;
  /** Requests that came, with their bodies. */
  readonly requests: { readonly headers: string[]; readonly body: string }[];
  /** Answers whose connection the gateway closed before their end. */
  readonly aborted: number;
  /** Replaces the script of the requests that come from now on. */
  script: Script;
  close(): Promise<void>;
}

export const CHUNK_ROLE = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n`;
export const CHUNK_STOP = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`;
export const CHUNK_USAGE = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n`;
export const DONE = 'data: [DONE]\n\n';

export function contentChunk(text: string): string {
  return `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}\n\n`;
}

export const WHOLE = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
});

/** Scripts that tests share. */
export const scripts = {
  whole: ((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE)) satisfies Script,
  status:
    (status: number, body = '{"error":{"message":"no","type":"x"}}', headers: Record<string, string> = {}): Script =>
    (response) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
  /** Each part is an HTTP chunk of its own, all in one packet (Node itself would make one chunk of them). */
  stream:
    (...parts: string[]): Script =>
    (response) => {
      const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('');
      response.socket?.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunks}0\r\n\r\n`,
      );
    },
  /** Sends the parts and then nothing more, with the connection open. */
  streamThenHang:
    (...parts: string[]): Script =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      for (const part of parts) response.write(part);
    },
  streamThenCut:
    (...parts: string[]): Script =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of parts) response.write(part);
      setTimeout(() => response.destroy(), 20);
    },
  hang: (() => undefined) satisfies Script,
  reset: ((response) => response.destroy()) satisfies Script,
};

export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const requests: { headers: string[]; body: string }[] = [];
  let aborted = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push({ headers: request.rawHeaders, body });
      upstream.script(response, request, body);
    });
    response.on('close', () => {
      if (!response.writableFinished) aborted += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get aborted() {
      return aborted;
    },
    script,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}
