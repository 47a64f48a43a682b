import { createServer } from 'node:net';

/** A provider that costs next to nothing: raw sockets, one fixed OpenAI answer per request. Environment: PORT. */
const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_767_225_600,
  model: 'sim-small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(340) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 80, total_tokens: 180 },
});
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\nconnection: keep-alive\r\n\r\n${answer}`,
);

createServer((socket) => {
  socket.setNoDelay(true);
  let pending: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      const head = pending.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(pending.toString('latin1', 0, head))?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      pending = pending.subarray(head + 4 + length);
      socket.write(response);
    }
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
