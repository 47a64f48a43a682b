/** One answer of the gateway as a test reads it. */
export interface ChatAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ChatOptions {
  readonly key: string;
  readonly model?: string;
  readonly stream?: boolean;
  readonly sim?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** One chat completion over plain HTTP, read to its end. */
export async function chat(url: string, options: ChatOptions): Promise<ChatAnswer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${options.key}`, 'content-type': 'application/json', ...options.headers },
    body: JSON.stringify({
      model: options.model ?? 'sim-small',
      messages: [{ role: 'user', content: 'What does a sluice do?' }],
      ...(options.stream === undefined ? {} : { stream: options.stream }),
      ...(options.sim === undefined ? {} : { sim: options.sim }),
      ...options.body,
    }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends at a constant rate whatever comes back, for `seconds`; resolves when every answer is in. */
export async function constantRate(
  perSecond: number,
  seconds: number,
  send: () => Promise<ChatAnswer>,
): Promise<ChatAnswer[]> {
  const total = Math.round(perSecond * seconds);
  const answers: Promise<ChatAnswer>[] = [];
  const startedAt = performance.now();
  for (let i = 0; i < total; i += 1) {
    const dueMs = startedAt + (i * 1000) / perSecond - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    answers.push(send());
  }
  return Promise.all(answers);
}

/** How many answers had each status. */
export function countByStatus(answers: readonly ChatAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
