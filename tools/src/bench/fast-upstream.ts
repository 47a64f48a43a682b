import { createServer, type Socket } from 'node:net';

/**
 * A provider that costs next to nothing: raw sockets, a fixed answer per request, OpenAI's dialect or, below
 * `/v1/messages`, Anthropic's. A body with `"bench":{"chunks":n,"paceMs":m}` is answered by a stream of n events of
 * 284 bytes, one each m milliseconds by an absolute schedule; each carries the time at which it was sent.
 * Environment: PORT.
 */
const EVENT_BYTES = 284;

const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_767_225_600,
  model: 'sim-small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(340) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 80, total_tokens: 180 },
});
const whole = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\nconnection: keep-alive\r\n\r\n${answer}`,
);
const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n';

/** How a dialect writes the parts of a stream. */
interface Wire {
  readonly begin: string;
  event(text: string): string;
  readonly end: string;
}

const openaiEvent = (fields: string): string =>
  `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1767225600,"model":"sim-small","service_tier":"default","system_fingerprint":"fp_bench",${fields}}\n\n`;
const choice = (delta: string, finish: string): string =>
  `"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]`;
const anthropicEvent = (type: string, fields: string): string =>
  `event: ${type}\ndata: {"type":"${type}"${fields}}\n\n`;

const openai: Wire = {
  begin: openaiEvent(choice('{"role":"assistant","content":""}', 'null')),
  event: (text) => openaiEvent(choice(`{"content":"${text}"}`, 'null')),
  end:
    openaiEvent(choice('{}', '"stop"')) +
    openaiEvent('"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":80,"total_tokens":180}') +
    'data: [DONE]\n\n',
};
const anthropic: Wire = {
  begin:
    anthropicEvent(
      'message_start',
      ',"message":{"id":"msg_bench","type":"message","role":"assistant","model":"sim-small","content":[],"stop_reason":null,"usage":{"input_tokens":100,"output_tokens":1}}',
    ) + anthropicEvent('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
  event: (text) => anthropicEvent('content_block_delta', `,"index":0,"delta":{"type":"text_delta","text":"${text}"}`),
  end:
    anthropicEvent('content_block_stop', ',"index":0') +
    anthropicEvent('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":80}') +
    anthropicEvent('message_stop', ''),
};

const framed = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
/** Microseconds since boot, in 16 digits: a clock that all processes of the machine share, and that nobody sets. */
const stamp = (): string => String(process.hrtime.bigint() / 1000n).padStart(16, '0');

/** A dialect's stream, made ready: an event is a beginning, the time as 16 digits of microseconds, and an end. */
interface Play {
  readonly begin: string;
  readonly before: string;
  readonly after: string;
  readonly end: string;
}

function playOf(wire: Wire): Play {
  const digits = '0'.repeat(16);
  const bare = wire.event(`@${digits}@`).length;
  const [before = '', after = ''] = framed(
    wire.event(`@${digits}@${'x'.repeat(Math.max(0, EVENT_BYTES - bare))}`),
  ).split(digits);
  return { begin: HEAD + framed(wire.begin), before, after, end: `${framed(wire.end)}0\r\n\r\n` };
}

const openaiPlay = playOf(openai);
const anthropicPlay = playOf(anthropic);

interface Playing {
  readonly socket: Socket;
  readonly play: Play;
  readonly chunks: number;
  readonly paceMs: number;
  readonly startedAt: number;
  sent: number;
}

/** All streams share one timer: a timer for each chunk would cost as much as the chunk. */
const playing = new Set<Playing>();
let ticking: NodeJS.Timeout | undefined;

const timedEvent = ({ before, after }: Play): string => before + stamp() + after;

function start(socket: Socket, play: Play, chunks: number, paceMs: number): void {
  socket.write(play.begin + timedEvent(play), 'latin1');
  playing.add({ socket, play, chunks, paceMs, startedAt: performance.now(), sent: 1 });
  ticking ??= setInterval(tick, 1);
}

function tick(): void {
  const now = performance.now();
  for (const stream of playing) if (stream.startedAt + stream.sent * stream.paceMs <= now) step(stream);
  if (playing.size > 0) return;
  clearInterval(ticking);
  ticking = undefined;
}

function step(stream: Playing): void {
  const { socket, play, chunks } = stream;
  if (socket.destroyed || stream.sent >= chunks) {
    playing.delete(stream);
    if (!socket.destroyed) socket.write(play.end, 'latin1');
    return;
  }
  stream.sent += 1;
  socket.write(timedEvent(play), 'latin1');
}

createServer((socket) => {
  socket.setNoDelay(true);
  let pending: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      const head = pending.indexOf('\r\n\r\n');
      if (head < 0) return;
      const headers = pending.toString('latin1', 0, head);
      const length = Number(/content-length: *(\d+)/i.exec(headers)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      const play = /"bench":\{"chunks":(\d+),"paceMs":(\d+)\}/.exec(
        pending.toString('latin1', head + 4, head + 4 + length),
      );
      pending = pending.subarray(head + 4 + length);
      if (play === null) socket.write(whole);
      else
        start(
          socket,
          headers.startsWith('POST /v1/messages') ? anthropicPlay : openaiPlay,
          Number(play[1]),
          Number(play[2]),
        );
    }
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
