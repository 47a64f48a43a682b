/** What a client knows of one of its calls. */
export interface ClientRecord {
  readonly kind: 'whole' | 'stream' | 'cancelled' | 'refused' | 'message';
  /** From the answer's head; undefined when there was none. */
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  /** The whole answer arrived, with its end. */
  readonly finished: boolean;
  /** What the provider reported to the client. */
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly fallback: boolean;
}

const KINDS = ['whole', 'stream', 'cancelled', 'refused', 'stream', 'message'] as const;

/** The n-th of a mix: whole, streamed, cancelled, refused and Anthropic calls, of differing length. Never throws. */
export async function sendMixed(url: string, key: string, n: number): Promise<ClientRecord> {
  const kind = KINDS[n % KINDS.length] as ClientRecord['kind'];
  const abort = new AbortController();
  let requestId: string | undefined;
  let status: number | undefined;
  let fallback = false;
  const ended = (over: Partial<ClientRecord>): ClientRecord => ({
    kind,
    requestId,
    status,
    finished: false,
    usage: undefined,
    fallback,
    ...over,
  });
  try {
    const response = await fetch(`${url}/v1/${kind === 'message' ? 'messages' : 'chat/completions'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: kind === 'refused' ? 'no-such-model' : 'sim-small',
        max_tokens: 400,
        messages: [{ role: 'user', content: `question ${n} ${'x'.repeat(n)}` }],
        sim: { output_tokens: kind === 'cancelled' ? 300 : 5 + (n % 40) },
        ...(kind === 'stream' || kind === 'cancelled' ? { stream: true, stream_options: { include_usage: true } } : {}),
      }),
      signal: abort.signal,
    });
    requestId = response.headers.get('x-request-id') ?? undefined;
    status = response.status;
    fallback = response.headers.get('x-sluice-fallback') === 'true';
    if (kind === 'cancelled') {
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      abort.abort();
      return ended({});
    }
    const text = await response.text();
    if (status !== 200) return ended({ finished: true });
    return kind === 'stream'
      ? ended({ finished: text.includes('[DONE]'), usage: streamUsage(text) })
      : ended({ finished: true, usage: wholeUsage(text) });
  } catch {
    return ended({});
  }
}

function streamUsage(text: string): ClientRecord['usage'] {
  const match = /"usage":(\{[^}]*\})/.exec(text.slice(text.lastIndexOf('"usage":{')));
  return match === null
    ? undefined
    : usageOf(JSON.parse(`${match[1]}${'}'.repeat(open(match[1] as string))}`) as Record<string, number>);
}

const open = (text: string): number =>
  [...text].reduce((depth, letter) => depth + (letter === '{' ? 1 : letter === '}' ? -1 : 0), 0);

function wholeUsage(text: string): ClientRecord['usage'] {
  return usageOf((JSON.parse(text) as { usage: Record<string, number> }).usage);
}

function usageOf(usage: Record<string, number>): ClientRecord['usage'] {
  return {
    input: usage['prompt_tokens'] ?? usage['input_tokens'] ?? 0,
    output: usage['completion_tokens'] ?? usage['output_tokens'] ?? 0,
  };
}
