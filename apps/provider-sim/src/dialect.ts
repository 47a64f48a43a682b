import type { JsonObject, SimCall } from './sim-call.ts';

/** What differs between the wire protocols. */
export interface Dialect {
  /** The route that generates. */
  readonly path: string;
  plan(body: JsonObject): SimCall;
  /** The JSON text of a whole answer. */
  whole(call: SimCall): string;
  /** What a stream opens with, before the first token. */
  opening(call: SimCall): string;
  /** One token (of every choice). */
  chunk(call: SimCall, index: number): string;
  /** What a stream ends with. */
  closing(call: SimCall): string;
  error(status: number, message: string): string;
  /** Answered above the slots. */
  readonly overloadStatus: number;
  /** Small routes that cost no slot and count in no statistic; undefined where there is no such route. */
  side(method: string, path: string, body: () => JsonObject): unknown;
}
