import type { Call, CallFigures } from '../../call.ts';
import { tailWithUsage } from './tail.ts';

const call = { answer: { attempt: { model: 'sim-small', provider: { id: 'primary' } } } } as unknown as Call;
const figures: CallFigures = {
  outcome: 'ok',
  abortCase: 'complete',
  unpriced: [],
  usage: { input: 5, cache_read: 1, cache_write: 2, output: 7, reasoning: 3, audio: 4 },
  usageSource: 'provider',
  costNanoUsd: 1,
  billedNanoUsd: 19_000,
  finishReason: 'stop',
};
const EVENT =
  'event: usage\ndata: {"tokens":{"input":5,"cache_read":1,"cache_write":2,"output":7,"reasoning":3,"audio":4},"cost_nanousd":19000,"latency_ms":12,"model":"sim-small","provider":"primary"}\n\n';

describe('the usage event', () => {
  it.each([
    ['the end marker of OpenAI', 'data: {"a":1}\n\n', 'data: [DONE]\n\n'],
    [
      'the end marker of Anthropic',
      'event: message_delta\ndata: {}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ],
    ['a marker without a space', 'data: {"a":1}\n\n', 'data:[DONE]\n\n'],
    ['an end without a name', 'data: {"a":1}\n\n', 'data: {"type":"message_stop"}\n\n'],
    ['an end after CRLF', 'data: {"a":1}\r\n\r\n', 'event: message_stop\r\ndata: {"type":"message_stop"}\r\n\r\n'],
    ['an end after CR', 'data: {"a":1}\r\r', 'data: [DONE]\r\r'],
    ['an end that is alone', '', 'data: [DONE]\n\n'],
    ['an end after text that speaks of it', 'data: {"text":"data: [DONE]"}\n\n', 'data: [DONE]\n\n'],
  ])('stands right before %s', (_what, before, end) => {
    expect(tailWithUsage(call, Buffer.from(before + end), figures, 12.3).toString()).toBe(before + EVENT + end);
  });
});
