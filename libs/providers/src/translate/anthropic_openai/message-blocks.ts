import { asObject } from '../../token-count.ts';
import { asText, type Json } from '../carrier.ts';
import { toAnthropicToolId, ToolIds } from '../tool-ids.ts';
import { JsonProgress } from './json-progress.ts';

/** An event of Anthropic's with its own name as its type. */
export const event = (type: string, rest: string): string => `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`;

interface TextBlock {
  readonly kind: 'text';
  waiting: string;
}

interface ToolBlock {
  readonly kind: 'tool';
  readonly index: unknown;
  /** As the provider gave it; empty until it does. */
  givenId: string;
  readonly id: string;
  name: string;
  /** Arguments that have not been sent. */
  waiting: string;
  readonly progress: JsonProgress;
  state: 'waiting' | 'open' | 'closed';
}

/**
 * Writes the content blocks of a message. Anthropic's follow each other, while a provider may give several calls at once:
 * what comes before the open call has all of its arguments waits for its turn.
 */
export class MessageBlocks {
  readonly #ids = new ToolIds();
  readonly #tools: ToolBlock[] = [];
  readonly #queue: (TextBlock | ToolBlock)[] = [];
  #open: TextBlock | ToolBlock | undefined;
  #index = -1;
  /** What cannot be said of these blocks; the answer is broken then. */
  broken: string | undefined;

  get hasTools(): boolean {
    return this.#tools.length > 0;
  }

  text(value: string): string {
    if (value === '') return '';
    const last = this.#queue.at(-1) ?? this.#open;
    if (last?.kind === 'text') last.waiting += value;
    else this.#queue.push({ kind: 'text', waiting: value });
    return this.#write();
  }

  /**
   * A piece of a call.
   *
   * @param args its arguments, as far as this piece has any.
   * @param answerId the id of the answer.
   */
  tool(call: Json, args: string, answerId: string): string {
    const name = asText(asObject(call.function)?.name) ?? '';
    const block = this.#find(call, name) ?? this.#add(call, answerId);
    if (block.name === '') block.name = name;
    if (args.trim() !== '' && (block.state === 'closed' || block.progress.isWhole))
      this.broken = 'arguments of a tool call that had all of them';
    block.waiting += args;
    block.progress.read(args);
    return this.#write();
  }

  /** Everything that waits, and the end of the last block. */
  finish(wasCut: boolean): string {
    for (const { name, progress } of this.#tools) {
      if (name === '') this.broken = 'a tool call without a name';
      if (!wasCut && progress.hasBegun && !progress.isWhole) this.broken = 'arguments that are no JSON object';
    }
    if (this.broken !== undefined) return '';
    let out = this.#write();
    while (this.#queue.length > 0) out += this.#close() + this.#write();
    return out + this.#close();
  }

  /** The call that a piece belongs to; undefined for a new one. */
  #find({ index, id }: Json, name: string): ToolBlock | undefined {
    const givenId = asText(id) ?? '';
    const known =
      typeof index === 'number'
        ? this.#tools.findLast((tool) => tool.index === index)
        : givenId === ''
          ? this.#tools.at(-1)
          : this.#tools.findLast((tool) => tool.givenId === givenId);
    if (known === undefined) return undefined;
    if (givenId !== '') {
      // An id that comes late belongs to the call that had none yet.
      if (known.givenId !== '' && known.givenId !== givenId) return undefined;
      known.givenId = givenId;
      return known;
    }
    // Where nothing tells calls apart, a name after whole arguments begins the next one.
    return name !== '' && known.progress.isWhole ? undefined : known;
  }

  #add(call: Json, answerId: string): ToolBlock {
    const block: ToolBlock = {
      kind: 'tool',
      index: call.index,
      givenId: asText(call.id) ?? '',
      id: toAnthropicToolId(this.#ids.next(call.id, answerId)),
      name: '',
      waiting: '',
      progress: new JsonProgress(),
      state: 'waiting',
    };
    this.#tools.push(block);
    this.#queue.push(block);
    return block;
  }

  /** Whatever may be sent now. */
  #write(): string {
    let out = '';
    for (;;) {
      out += this.#deltas();
      const next = this.#queue[0];
      const mayClose = this.#open?.kind !== 'tool' || this.#open.progress.isWhole;
      if (next === undefined || !mayClose || (next.kind === 'tool' && next.name === '')) return out;
      this.#queue.shift();
      out += this.#close() + this.#begin(next);
    }
  }

  #deltas(): string {
    const block = this.#open;
    if (block === undefined || block.waiting === '') return '';
    const value = JSON.stringify(block.waiting);
    block.waiting = '';
    const delta =
      block.kind === 'text'
        ? `{"type":"text_delta","text":${value}}`
        : `{"type":"input_json_delta","partial_json":${value}}`;
    return event('content_block_delta', `,"index":${this.#index},"delta":${delta}`);
  }

  #begin(block: TextBlock | ToolBlock): string {
    this.#open = block;
    this.#index += 1;
    if (block.kind === 'tool') block.state = 'open';
    const content =
      block.kind === 'text'
        ? '{"type":"text","text":""}'
        : `{"type":"tool_use","id":${JSON.stringify(block.id)},"name":${JSON.stringify(block.name)},"input":{}}`;
    return event('content_block_start', `,"index":${this.#index},"content_block":${content}`);
  }

  #close(): string {
    const block = this.#open;
    if (block === undefined) return '';
    this.#open = undefined;
    if (block.kind === 'tool') block.state = 'closed';
    return event('content_block_stop', `,"index":${this.#index}`);
  }
}
