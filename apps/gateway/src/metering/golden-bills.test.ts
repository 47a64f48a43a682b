import type { CallSettled, Price } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { startGateway, type GatewayUnderTest } from '../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, type Script } from '../testing/scripted-upstream.ts';

/** Nanodollars per token are thousands of picodollars: $1 per million tokens is 1,000. */
const usd = (perMillion: number): number => perMillion * 1_000_000;

const OPENAI: Price = {
  inputPicoUsd: usd(1.25),
  cacheReadPicoUsd: usd(0.125),
  outputPicoUsd: usd(10),
  serviceTiers: { priority: { inputPicoUsd: usd(2.5), cacheReadPicoUsd: usd(0.25), outputPicoUsd: usd(20) } },
};
const ANTHROPIC: Price = {
  inputPicoUsd: usd(3),
  cacheReadPicoUsd: usd(0.3),
  cacheWritePicoUsd: usd(3.75),
  cacheWrite1hPicoUsd: usd(6),
  outputPicoUsd: usd(15),
  serviceTiers: { fast: { inputPicoUsd: usd(18), outputPicoUsd: usd(90) } },
  toolNanoUsd: { web_search: 10_000_000 },
};
const GEMINI: Price = {
  inputPicoUsd: usd(1.25),
  outputPicoUsd: usd(10),
  longContext: [{ aboveInputTokens: 200_000, inputPicoUsd: usd(2.5), outputPicoUsd: usd(15) }],
};
const XAI: Price = { inputPicoUsd: usd(2), cacheReadPicoUsd: usd(0.5), outputPicoUsd: usd(6) };

const SEARCH = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
const FILE = {
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }],
};

interface Bill {
  readonly what: string;
  readonly dialect: 'openai' | 'anthropic';
  readonly price: Price;
  readonly body?: object;
  readonly usage: object;
  /** Members of the answer beside its usage. */
  readonly more?: object;
  /** Nanodollars, as they are reckoned by hand: tokens × dollars per million × 1,000. */
  readonly money: number;
}

const BILLS: readonly Bill[] = [
  {
    what: 'OpenAI: 86 fresh, 1,920 cached, 172 text and 128 reasoning',
    dialect: 'openai',
    price: OPENAI,
    usage: {
      prompt_tokens: 2_006,
      completion_tokens: 300,
      total_tokens: 2_306,
      prompt_tokens_details: { cached_tokens: 1_920 },
      completion_tokens_details: { reasoning_tokens: 128 },
    },
    more: { service_tier: 'default' },
    //     86 × 1,250 = 107,500;  1,920 × 125 = 240,000;  300 × 10,000 = 3,000,000
    money: 3_347_500,
  },
  {
    what: 'OpenAI: the same in the tier priority',
    dialect: 'openai',
    price: OPENAI,
    body: { service_tier: 'priority' },
    usage: {
      prompt_tokens: 2_006,
      completion_tokens: 300,
      total_tokens: 2_306,
      prompt_tokens_details: { cached_tokens: 1_920 },
      completion_tokens_details: { reasoning_tokens: 128 },
    },
    more: { service_tier: 'priority' },
    //     86 × 2,500 = 215,000;  1,920 × 250 = 480,000;  300 × 20,000 = 6,000,000
    money: 6_695_000,
  },
  {
    what: 'OpenAI: priority was asked for, and the standard way was served',
    dialect: 'openai',
    price: OPENAI,
    body: { service_tier: 'priority' },
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    more: { service_tier: 'default' },
    //     100 × 1,250 = 125,000;  10 × 10,000 = 100,000
    money: 225_000,
  },
  {
    what: 'Anthropic: cache writes of two lifetimes and a search',
    dialect: 'anthropic',
    price: ANTHROPIC,
    body: SEARCH,
    usage: {
      input_tokens: 105,
      cache_read_input_tokens: 7_123,
      cache_creation_input_tokens: 7_345,
      cache_creation: { ephemeral_5m_input_tokens: 7_000, ephemeral_1h_input_tokens: 345 },
      output_tokens: 6_039,
      server_tool_use: { web_search_requests: 1 },
      service_tier: 'standard',
    },
    //     105 × 3,000 = 315,000;  7,123 × 300 = 2,136,900;  7,000 × 3,750 = 26,250,000;  345 × 6,000 = 2,070,000;
    //     6,039 × 15,000 = 90,585,000;  1 search = 10,000,000
    money: 131_356_900,
  },
  {
    what: 'Anthropic: served fast',
    dialect: 'anthropic',
    price: ANTHROPIC,
    body: { speed: 'fast' },
    usage: { input_tokens: 1_000, output_tokens: 200, speed: 'fast', service_tier: 'standard' },
    //     1,000 × 18,000 = 18,000,000;  200 × 90,000 = 18,000,000
    money: 36_000_000,
  },
  {
    what: 'Gemini: thoughts that only the total tells',
    dialect: 'openai',
    price: GEMINI,
    usage: { prompt_tokens: 758, completion_tokens: 102, total_tokens: 1_725 },
    //     758 × 1,250 = 947,500;  (102 + 865) × 10,000 = 9,670,000
    money: 10_617_500,
  },
  {
    what: 'Gemini: the whole call at the price above 200,000 tokens',
    dialect: 'openai',
    price: GEMINI,
    body: FILE,
    usage: { prompt_tokens: 250_000, completion_tokens: 102, total_tokens: 250_967 },
    //     250,000 × 2,500 = 625,000,000;  967 × 15,000 = 14,505,000
    money: 639_505_000,
  },
  {
    what: 'xAI: reasoning beside the completion',
    dialect: 'openai',
    price: XAI,
    usage: {
      prompt_tokens: 125,
      completion_tokens: 48,
      total_tokens: 493,
      prompt_tokens_details: { text_tokens: 125, audio_tokens: 0, image_tokens: 0, cached_tokens: 98 },
      completion_tokens_details: { reasoning_tokens: 320, audio_tokens: 0 },
    },
    //     27 × 2,000 = 54,000;  98 × 500 = 49,000;  (48 + 320) × 6,000 = 2,208,000
    money: 2_311_000,
  },
];

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, value: object): string => `event: ${type}\n${data({ type, ...value })}`;

function wholeOf({ dialect, usage, more }: Bill): Script {
  const answer =
    dialect === 'openai'
      ? { model: 'm', choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] }
      : { type: 'message', model: 'm', content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' };
  return scripts.status(200, JSON.stringify({ id: 'a', ...answer, ...more, usage }));
}

function streamOf({ dialect, usage, more }: Bill): Script {
  if (dialect === 'openai') {
    const chunk = (choices: object[], rest: object = {}) => data({ id: 'a', model: 'm', choices, ...more, ...rest });
    return scripts.stream(
      chunk([{ index: 0, delta: { role: 'assistant', content: 'Hello' } }]),
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
      chunk([], { usage }),
      'data: [DONE]\n\n',
    );
  }
  const { output_tokens: output, server_tool_use: tools, ...input } = usage as Record<string, unknown>;
  return scripts.stream(
    named('message_start', { message: { id: 'a', model: 'm', usage: { ...input, output_tokens: 1 } } }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 0, output_tokens: output, ...(tools === undefined ? {} : { server_tool_use: tools }) },
    }),
    named('message_stop', {}),
  );
}

function pricedAt(price: Price, dialect: Bill['dialect']) {
  return (raw: RawSnapshot): void => {
    const plan = raw.plans.team as { priceBook: { prices: Record<string, unknown> } };
    plan.priceBook.prices['sim-small'] = price;
    Object.assign(raw.models['sim-small'] as object, {
      contextTokens: 1_000_000,
      offers: [{ provider: 'primary', providerModel: 'm', price }],
    });
    const provider = raw.providers.primary as { baseUrl: string };
    Object.assign(provider, {
      dialect,
      baseUrl: dialect === 'anthropic' ? provider.baseUrl.replace('/v1', '') : provider.baseUrl,
    });
  };
}

const post = (gateway: GatewayUnderTest, path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });
const PATH = { openai: '/chat/completions', anthropic: '/messages' } as const;
const LIMIT = { max_tokens: 8_000 };

async function settledOf(
  script: Script,
  change: (raw: RawSnapshot) => void,
  act: (gateway: GatewayUnderTest) => Promise<Response>,
) {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url, change });
  try {
    const answer = await act(gateway);
    const text = await answer.text();
    await eventually(() => expect(gateway.ends).toHaveLength(1));
    return {
      status: answer.status,
      text,
      sent: upstream.requests.length,
      event: gateway.settled[0] as Omit<CallSettled, 'gateway_id' | 'epoch' | 'sequence'> | undefined,
      figures: gateway.ends[0]?.figures,
    };
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

describe.each([
  ['whole', wholeOf, false],
  ['streamed', streamOf, true],
] as const)('the bill of an answer that comes %s', (_how, scriptOf, stream) => {
  it.each(BILLS)('$what', async (bill) => {
    const { event, figures } = await settledOf(scriptOf(bill), pricedAt(bill.price, bill.dialect), (gateway) =>
      post(gateway, PATH[bill.dialect], { ...LIMIT, ...bill.body, stream }),
    );
    expect(event).toMatchObject({ usage_source: 'provider', billed_nanousd: bill.money, cost_nanousd: bill.money });
    expect(figures?.unpriced).toEqual([]);
  });
});

const BASE: Price = { inputPicoUsd: usd(1), outputPicoUsd: usd(2) };
const cached = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } };

describe('what has no price', () => {
  it.each([
    ['a service tier', 'openai', { service_tier: 'priority' }, /service tier 'priority'/],
    ['flex', 'openai', { service_tier: 'flex' }, /service tier 'flex'/],
    ['speech', 'openai', { modalities: ['text', 'audio'], audio: { voice: 'x', format: 'wav' } }, /audio/],
    ['an option that searches', 'openai', { web_search_options: {} }, /web_search_options/],
    ['speed', 'anthropic', { speed: 'fast' }, /service tier 'fast'/],
    ['a place', 'anthropic', { inference_geo: 'us' }, /service tier 'geo-us'/],
    ['a cache of an hour', 'anthropic', { messages: [{ role: 'user', content: [cached] }] }, /kept for an hour/],
    ['a cache of an hour in the instructions', 'anthropic', { system: [cached] }, /kept for an hour/],
    ['a tool that searches', 'anthropic', SEARCH, /tool 'web_search'/],
  ] as const)('is refused before anything is sent: %s', async (_what, dialect, body, words) => {
    const { status, text, sent } = await settledOf(scripts.whole, pricedAt(BASE, dialect), (gateway) =>
      post(gateway, PATH[dialect], { ...LIMIT, ...body }),
    );
    expect([status, sent]).toEqual([400, 0]);
    expect(text).toMatch(words);
    expect(text).toContain('sim-small');
  });

  const charging =
    (price: Price, dialect: Bill['dialect']) =>
    (raw: RawSnapshot): void => {
      pricedAt(price, dialect)(raw);
      const { policy } = raw.plans.team as { policy: Record<string, unknown> };
      policy.unknownPrice = { mode: 'charge', picoUsdPerToken: usd(5) };
    };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

  it('costs what the policy states for a token, where it states a price', async () => {
    const bill = { dialect: 'openai', price: BASE, usage, more: { service_tier: 'priority' } } as unknown as Bill;
    const { event } = await settledOf(wholeOf(bill), charging(BASE, 'openai'), (gateway) =>
      post(gateway, PATH.openai, { service_tier: 'priority' }),
    );
    // 110 × 5,000
    expect(event?.billed_nanousd).toBe(550_000);
  });

  it('is refused even so where it costs by the use', async () => {
    const { status, text } = await settledOf(scripts.whole, charging(BASE, 'anthropic'), (gateway) =>
      post(gateway, PATH.anthropic, { ...LIMIT, ...SEARCH }),
    );
    expect([status, text.includes('web_search')]).toEqual([400, true]);
  });

  it('is told where it was served without being asked for, and our offer is told as well as the plan', async () => {
    const bill = { dialect: 'openai', price: BASE, usage, more: { service_tier: 'priority' } } as unknown as Bill;
    const { event, figures } = await settledOf(wholeOf(bill), pricedAt(BASE, 'openai'), (gateway) =>
      post(gateway, PATH.openai, {}),
    );
    expect(event).toMatchObject({ billed_nanousd: 120_000, attempts: [{ served: { tier: 'priority' } }] });
    expect(figures?.unpriced).toEqual([
      { what: "the service tier 'priority'", of: "the plan's price of sim-small" },
      { what: "the service tier 'priority'", of: "primary's offer of sim-small" },
    ]);
  });

  it.each([
    [{ service_tier: 'auto' }, 'openai'],
    [
      {
        service_tier: 'standard_only',
        tools: [
          { name: 'f', input_schema: {} },
          { type: 'bash_20250124', name: 'bash' },
        ],
      },
      'anthropic',
    ],
    [{ messages: [{ role: 'user', content: [{ ...cached, cache_control: { type: 'ephemeral' } }] }] }, 'anthropic'],
  ] as const)('is not what the standard price covers: %j', async (body, dialect) => {
    const bill = { dialect, price: BASE, usage: dialect === 'openai' ? usage : { input_tokens: 1, output_tokens: 1 } };
    const { status } = await settledOf(wholeOf(bill as Bill), pricedAt(BASE, dialect), (gateway) =>
      post(gateway, PATH[dialect], { ...LIMIT, ...body }),
    );
    expect(status).toBe(200);
  });
});

describe('what an Anthropic client of an OpenAI provider is told', () => {
  interface Usage {
    readonly input_tokens: number;
    readonly output_tokens: number;
  }
  interface Told {
    readonly type: string;
    readonly usage?: Usage;
    readonly message?: { readonly usage: Usage };
  }
  const toldIn = (text: string, type: string): Usage | undefined => {
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => JSON.parse(line.slice(5)) as Told);
    const event = events.find((candidate) => candidate.type === type);
    return event?.usage ?? event?.message?.usage;
  };
  const content = data({ id: 'a', model: 'm', choices: [{ index: 0, delta: { content: 'x'.repeat(40) } }] });
  const stop = data({ id: 'a', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

  it('is an estimate of its input at the beginning, and at the end what is billed', async () => {
    const { text, event } = await settledOf(
      scripts.stream(content, stop, 'data: [DONE]\n\n'),
      pricedAt(BASE, 'openai'),
      (gateway) => post(gateway, PATH.anthropic, { ...LIMIT, stream: true }),
    );
    expect(event?.usage.input).toBeGreaterThan(0);
    expect(toldIn(text, 'message_start')).toMatchObject({ input_tokens: event?.usage.input, output_tokens: 0 });
    expect(toldIn(text, 'message_delta')).toMatchObject({
      input_tokens: event?.usage.input,
      output_tokens: event?.usage.output,
    });
  });

  it('is what is billed where a count came before more content', async () => {
    const count = data({ id: 'a', model: 'm', choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } });
    const { text, event } = await settledOf(
      scripts.stream(count, content, stop, 'data: [DONE]\n\n'),
      pricedAt(BASE, 'openai'),
      (gateway) => post(gateway, PATH.anthropic, { ...LIMIT, stream: true }),
    );
    expect(toldIn(text, 'message_delta')).toMatchObject({
      input_tokens: event?.usage.input,
      output_tokens: event?.usage.output,
    });
    expect(event?.usage).toMatchObject({ output: 10 });
  });

  it('is what is billed of a whole answer without a count', async () => {
    const { text, event } = await settledOf(
      scripts.status(
        200,
        JSON.stringify({
          id: 'a',
          model: 'm',
          choices: [{ message: { content: 'x'.repeat(40) }, finish_reason: 'stop' }],
        }),
      ),
      pricedAt(BASE, 'openai'),
      (gateway) => post(gateway, PATH.anthropic, LIMIT),
    );
    expect((JSON.parse(text) as { usage: Usage }).usage).toMatchObject({
      input_tokens: event?.usage.input,
      output_tokens: 10,
    });
  });
});

describe('what an OpenAI client of an Anthropic provider is told', () => {
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const uncounted = scripts.stream(
    event('message_start', { message: { id: 'msg_1', model: 'm' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'x'.repeat(40) } }),
    event('message_delta', { delta: { stop_reason: 'end_turn' } }),
    event('message_stop', {}),
  );
  const stream = (include_usage: boolean) => (gateway: GatewayUnderTest) =>
    post(gateway, PATH.openai, { ...LIMIT, stream: true, stream_options: { include_usage } });

  it('is what is billed of a stream without a count, where it asked for usage', async () => {
    const { text, event: settled } = await settledOf(uncounted, pricedAt(BASE, 'anthropic'), stream(true));
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json as string) as object);
    expect(settled).toMatchObject({ usage_source: 'estimate', usage: { output: 10 } });
    expect(settled?.usage.input).toBeGreaterThan(0);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: settled?.usage.input, completion_tokens: 10 },
    });
  });

  it('is nothing of usage, where it did not ask', async () => {
    const { text } = await settledOf(uncounted, pricedAt(BASE, 'anthropic'), stream(false));
    expect(text).not.toContain('usage');
    expect(text).toContain('data: [DONE]');
  });

  it('is what is billed of a whole answer without a count', async () => {
    const message = { id: 'msg_1', type: 'message', model: 'm', content: [{ type: 'text', text: 'x'.repeat(40) }] };
    const { text, event: settled } = await settledOf(
      scripts.status(200, JSON.stringify({ ...message, stop_reason: 'end_turn' })),
      pricedAt(BASE, 'anthropic'),
      (gateway) => post(gateway, PATH.openai, LIMIT),
    );
    expect(settled?.usage.input).toBeGreaterThan(0);
    expect(JSON.parse(text)).toMatchObject({
      usage: { prompt_tokens: settled?.usage.input, completion_tokens: 10 },
    });
  });
});
