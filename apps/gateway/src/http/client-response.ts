/**
 * The caller's end of a call. The only thing that touches the socket's answer: headers are written once, bytes go out
 * in order, and the last byte leaves only when `finish` is called, which the settle stage does after the record is on disk.
 */
export interface ClientResponse {
  /** Headers have been sent; from here on errors are in-band. */
  readonly committed: boolean;
  /** The last byte was handed over, or the connection is gone. */
  readonly finished: boolean;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Adds a header before commit; a later value replaces an earlier one. */
  setHeader(name: string, value: string): void;
  /** Sends status and headers. Streams also get the no-buffering headers and, after 10 s of silence, heartbeats. */
  commit(status: number, options: { stream: boolean; contentType: string; contentLength?: number }): void;
  /** Writes body bytes; false means that the client is behind: wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  /** Called each time the client has caught up after a `false`. */
  onDrain(listener: () => void): void;
  /** Sends what is given, then ends. Resolves when the bytes left the process or the connection is gone. */
  finish(last?: Buffer): Promise<void>;
  /** Cuts the connection without a correct end (a reader that is too slow). */
  destroy(): void;
}
