import {
  type InboundCall,
  isFault,
  isRefusal,
  type Operation,
  type ProviderAdapter,
  SluiceError,
  type TokenUsage,
} from '@sluice/contracts';
import { createAdapterRegistry } from '@sluice/providers';
import fc from 'fast-check';
import {
  ANTHROPIC_EVENTS,
  BODIES,
  CHAT_FIELDS,
  CHAT_MESSAGES,
  MESSAGE_FIELDS,
  MESSAGE_MESSAGES,
  ODD_EVENTS,
  OPENAI_EVENTS,
} from './corpus.ts';
import {
  type Answer,
  answers,
  readCompletion,
  readMessage,
  renderAnthropic,
  renderOpenai,
} from './rendered-answers.ts';

const registry = createAdapterRegistry({ clock: { now: () => 1_700_000_000_000 } });
const adapters = {
  openai: registry.get('openai') as ProviderAdapter,
  anthropic: registry.get('anthropic') as ProviderAdapter,
};
type Dialect = keyof typeof adapters;
const dialects = fc.constantFrom<Dialect>('openai', 'anthropic');
const operations = fc.constantFrom<Operation>('chat', 'messages');
const TARGET = {
  baseUrl: 'https://x.test',
  dialect: 'openai' as const,
  providerModel: 'm',
  secret: 's',
  extraHeaders: {},
  tenantMarker: 't',
  carryFields: [],
};
/** No event of a translation is longer than what came by more than this. */
const MAX_GROWTH = 4;
const FRAME_CHARS = 2_000;

/** One thing that holds for every input. */
export interface WireProperty {
  readonly name: string;
  /** Tries so many inputs. @returns what broke it, with the smallest input, or undefined. */
  broken(runs: number, seed?: number): string | undefined;
}

function holding<Inputs>(name: string, property: fc.IProperty<Inputs>): WireProperty {
  return {
    name,
    broken(numRuns, seed) {
      const result = fc.check(property, seed === undefined ? { numRuns } : { numRuns, seed });
      if (!result.failed) return undefined;
      const { counterexample, counterexamplePath, errorInstance } = result;
      return `${name}; seed ${result.seed}, path ${String(counterexamplePath)}: ${JSON.stringify(counterexample)}: ${String(errorInstance)}`;
    },
  };
}

function callOf(operation: Operation, body: object, stream: boolean, drops = false): InboundCall {
  return {
    operation,
    bytes: Buffer.from(JSON.stringify(body)),
    body: body as Record<string, unknown>,
    stream,
    wantsUsage: true,
    forwardHeaders: {},
    acrossDialects: drops ? 'drop' : 'refuse',
  };
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function checkUsage(usage: TokenUsage | undefined): void {
  if (usage === undefined) return;
  for (const count of Object.values(usage))
    must(Number.isSafeInteger(count) && count >= 0, `a count of ${String(count)}`);
}

/** Now and then another value in the place of one. */
const bent = (values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.constantFrom(...values),
      fc.nat(11),
      fc.nat(30),
      fc.constantFrom<unknown>(null, '', 7, -1, true, [], {}, 'x', 1e300),
    )
    .map(([value, dice, at, other]) => {
      if (dice > 1) return value;
      let left = at;
      return JSON.parse(
        JSON.stringify(value, (key, member: unknown) => (key !== '' && (left -= 1) === 0 ? other : member)),
      ) as unknown;
    });

function eventText(value: unknown): string {
  const type = (value as { type?: unknown } | null)?.type;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(value)}`;
}

const streams = fc.record({
  dialect: dialects,
  operation: operations,
  blocks: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: bent(OPENAI_EVENTS).map(eventText) },
      { weight: 6, arbitrary: bent(ANTHROPIC_EVENTS).map(eventText) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_EVENTS) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
    ),
    { maxLength: 10 },
  ),
  eol: fc.constantFrom('\n', '\n', '\r\n'),
  cuts: fc.array(fc.nat(3_000), { maxLength: 4 }),
  unfinished: fc.nat(3),
});

function readAll(dialect: Dialect, operation: Operation, pieces: readonly Buffer[]) {
  const reader = adapters[dialect].createStreamReader(callOf(operation, {}, true));
  let out = '';
  let broken: string | undefined;
  try {
    for (const piece of pieces) out += reader.push(piece)?.toString('latin1') ?? '';
    out += reader.end()?.toString('latin1') ?? '';
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    broken = error.code;
  }
  const { contentSeen, ended, fault, usage, finishReason, model, outputChars } = reader;
  checkUsage(usage);
  must(Number.isFinite(outputChars) && outputChars >= 0, 'a length below zero');
  // An id that no provider gave is made anew.
  out = out.replaceAll(/msg_[0-9a-f]{8}-[0-9a-f-]{27}/g, 'msg_new');
  return {
    out,
    facts: JSON.stringify({ contentSeen, ended, fault: fault?.kind, usage, finishReason, model, outputChars, broken }),
  };
}

const stream = holding(
  'a stream of any events: no crash, no growth, any split reads the same, nothing after an end',
  fc.property(streams, ({ dialect, operation, blocks, eol, cuts, unfinished }) => {
    const text = blocks.map((block) => block.replaceAll('\n', eol) + eol + eol).join('');
    const bytes = Buffer.from(text.slice(0, text.length - unfinished));
    const whole = readAll(dialect, operation, [bytes]);
    const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
    const split = readAll(
      dialect,
      operation,
      [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length)),
    );
    must(
      whole.out === split.out && whole.facts === split.facts,
      `${JSON.stringify(whole)} is not ${JSON.stringify(split)}`,
    );
    must(whole.out.length <= bytes.length * MAX_GROWTH + FRAME_CHARS * (blocks.length + 2), 'grew');
    must((whole.out.match(/data: \[DONE\]/g) ?? []).length <= 1, 'two ends');
  }),
);

const sameAnswer = holding(
  'an answer, whole and streamed, in both directions: the same text and arguments out as in',
  fc.property(answers, fc.boolean(), (answer: Answer, fromOpenai) => {
    const dialect: Dialect = fromOpenai ? 'openai' : 'anthropic';
    const operation: Operation = fromOpenai ? 'messages' : 'chat';
    const { whole, events } = fromOpenai ? renderOpenai(answer) : renderAnthropic(answer);
    const parsed = adapters[dialect].readWhole(callOf(operation, {}, false), Buffer.from(whole));
    if (isFault(parsed)) throw new Error(`whole: ${parsed.detail}`);
    checkUsage(parsed.usage);
    const read = fromOpenai ? readMessage : readCompletion;
    const wanted = JSON.stringify({ text: answer.text, tools: answer.tools.map(({ name, args }) => ({ name, args })) });
    const streamed = readAll(dialect, operation, [Buffer.from(events)]);
    must(JSON.parse(streamed.facts).ended === true, `streamed: ${streamed.facts}`);
    for (const got of [read.whole(String(parsed.body)), read.events(Buffer.from(streamed.out, 'latin1').toString())])
      must(JSON.stringify(got) === wanted, `${JSON.stringify(got)} is not ${wanted}`);
  }),
);

const requestsOf = (fields: readonly object[], messages: readonly object[]) =>
  fc
    .tuple(
      fc.array(bent(fields), { maxLength: 3 }),
      fc.array(bent(messages), { maxLength: 6 }),
      fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 1 }),
    )
    .map(
      ([some, all, odd]) =>
        ({ ...odd, ...Object.assign({}, ...some), model: 'm', max_tokens: 100, messages: all }) as Record<
          string,
          unknown
        >,
    );

const request = holding(
  'a request of any fields to the other dialect: refused by name, or a valid body; dropping refuses no field',
  fc.property(
    fc.oneof(
      requestsOf(CHAT_FIELDS, CHAT_MESSAGES).map((body) => ['chat', 'anthropic', body] as const),
      requestsOf(MESSAGE_FIELDS, MESSAGE_MESSAGES).map((body) => ['messages', 'openai', body] as const),
    ),
    fc.boolean(),
    ([operation, dialect, body], drops) => {
      const inbound = callOf(operation, body, false, drops);
      const built = adapters[dialect].buildRequest(inbound, TARGET);
      if (isRefusal(built)) {
        must(built.code === 'unsupported_field' || built.code === 'invalid_value', built.code);
        must(
          !drops || built.code === 'invalid_value' || built.param === 'messages',
          `dropping refused ${String(built.param)}`,
        );
        return;
      }
      const text = built.body.toString();
      JSON.parse(text);
      if (dialect === 'anthropic')
        for (const [, id] of text.matchAll(/"(?:tool_use_id|id)":"([^"]*)"/g))
          must(/^[a-zA-Z0-9_-]+$/.test(id ?? ''), `the id ${String(id)}`);
      must(
        drops || (built.dropped ?? []).every((path) => path === 'reasoning_effort' || path === 'cache_control'),
        'dropped unasked',
      );
    },
  ),
);

const STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529, 599];
const body = holding(
  'a body of any kind, as an answer and as an error with any headers: no crash, a known kind, counts that make sense',
  fc.property(
    dialects,
    fc.constantFrom<Operation>('chat', 'messages', 'embeddings', 'count_tokens'),
    fc.oneof(
      { weight: 4, arbitrary: bent(BODIES).map((value) => Buffer.from(JSON.stringify(value))) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
    ),
    fc.constantFrom(...STATUSES),
    fc.dictionary(
      fc.constantFrom(
        'retry-after',
        'retry-after-ms',
        'content-type',
        'x-ratelimit-reset-tokens',
        'x-ratelimit-limit-requests',
      ),
      fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('1', '-5', '1e99', 'Wed, 21 Oct 2026 07:28:00 GMT')),
      { maxKeys: 2 },
    ),
    (dialect, operation, bytes, status, headers) => {
      const call = callOf(operation, {}, false);
      const read = adapters[dialect].readWhole(call, bytes);
      if (!isFault(read)) checkUsage(read.usage);
      const fault = adapters[dialect].classify(status, headers, bytes, call);
      must(
        fault.retryAfterMs === undefined || (fault.retryAfterMs >= 0 && Number.isFinite(fault.retryAfterMs)),
        'a wait that is none',
      );
      must(fault.kind !== 'account' || fault.body === undefined, 'the words about an account are passed on');
    },
  ),
);

const counts = fc.oneof(fc.nat(2_000), fc.constantFrom<unknown>(null, -1, 1.5, '7', 1e12, undefined, {}));
const usage = holding(
  'usage of any counts: classes are disjoint and not below zero, or unknown',
  fc.property(
    fc.record({
      prompt_tokens: counts,
      completion_tokens: counts,
      total_tokens: counts,
      cached_tokens: counts,
      prompt_cache_hit_tokens: counts,
      cached: counts,
      written: counts,
      reasoning: counts,
      input_tokens: counts,
      output_tokens: counts,
      cache_read_input_tokens: counts,
      cache_creation_input_tokens: counts,
    }),
    dialects,
    (given, dialect) => {
      const { cached, written, reasoning, ...plain } = given;
      const value = {
        ...plain,
        prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
        completion_tokens_details: { reasoning_tokens: reasoning },
      };
      const answer =
        dialect === 'openai'
          ? { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage: value }
          : { type: 'message', content: [{ type: 'text', text: 'x' }], usage: value };
      const read = adapters[dialect].readWhole(
        callOf(dialect === 'openai' ? 'chat' : 'messages', {}, false),
        Buffer.from(JSON.stringify(answer)),
      );
      if (isFault(read) || read.usage === undefined) return;
      checkUsage(read.usage);
      const sum = Object.values(read.usage).reduce((all, count) => all + count, 0);
      const known = (...values: unknown[]): number =>
        values.reduce<number>((all, one) => all + (typeof one === 'number' && one > 0 ? one : 0), 0);
      const most =
        dialect === 'openai'
          ? Math.max(
              known(given.prompt_tokens, given.completion_tokens),
              known(given.total_tokens),
              known(given.prompt_tokens, given.completion_tokens, reasoning),
            )
          : known(
              given.input_tokens,
              given.output_tokens,
              given.cache_read_input_tokens,
              given.cache_creation_input_tokens,
            );
      must(sum <= most, `${sum} tokens of ${most}`);
    },
  ),
);

export const WIRE_PROPERTIES: readonly WireProperty[] = [stream, sameAnswer, request, body, usage];

/** How much is tried at once, inputs: between two of these the progress is told. */
const CHUNK = 5_000;
/** What the heap may have more at the end than after the first round, bytes. */
const MAX_HEAP_GROWTH = 256 * 1024 * 1024;

/**
 * Tries the wire with inputs that are put together from real shapes.
 *
 * @param inputs how many, over all properties.
 * @param seed the same seed gives the same inputs.
 * @param tell progress, in words.
 * @returns how many were tried.
 * @throws Error with the property, its seed and the smallest input that breaks it.
 */
export async function fuzzWire(inputs: number, seed: number, tell: (line: string) => void): Promise<number> {
  let done = 0;
  let firstHeap: number | undefined;
  for (let round = 0; done < inputs; round += 1) {
    for (const { broken } of WIRE_PROPERTIES) {
      const numRuns = Math.min(CHUNK, inputs - done);
      if (numRuns <= 0) break;
      const why = broken(numRuns, seed + round);
      if (why !== undefined) throw new Error(why);
      done += numRuns;
      await new Promise(setImmediate);
    }
    const heap = process.memoryUsage().heapUsed;
    firstHeap ??= heap;
    if (heap - firstHeap > MAX_HEAP_GROWTH)
      throw new Error(`the heap grew from ${firstHeap} to ${heap} bytes in ${done} inputs`);
    tell(
      `${done.toLocaleString('en-US')} of ${inputs.toLocaleString('en-US')} inputs, heap ${Math.round(heap / 1e6)} MB`,
    );
  }
  return done;
}
