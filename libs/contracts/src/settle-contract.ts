/**
 * The settle contract: what happens at the end of every call that was admitted, in which order, and who does it.
 *
 * Settling is done once, by the gateway's `settle` stage, whatever ended the call: success, refusal after
 * admission, fault, abort of the caller, drain. No other code releases or bills.
 *
 * | # | step | releases | done by | on failure |
 * |---|---|---|---|---|
 * | 1 | the provider's slot is free at upstream's end, whatever the client still reads | pool slot | attempt loop | cannot fail |
 * | 2 | the figures are final: usage by class and its source, provider cost over all attempts, billed amount | | settle | an internal error is settled with the estimate |
 * | 3 | `call.settled` is in the outbox file (`write()` returned) | | settle | the last byte is not sent; the call ends with an in-band error |
 * | 4 | the last byte goes to the client | | relay | an abort changes nothing that was recorded |
 * | 5 | the lease is settled: bulkhead slot free, quotas and token bucket trued up, in one step | slot, tokens, money | settle | retried by the store; the liveness lease is the last resort |
 * | 6 | breaker and router hear the verdict, one log line is written, live counters move | | settle | logged |
 *
 * A call refused between admission and the first upstream byte is settled `unused`: everything goes back, the rate
 * tokens too, and no `call.settled` is written unless `call.started` was.
 */
export const SETTLE_STEPS = [
  'free_pool_slot',
  'finalise_figures',
  'append_settled',
  'send_last_byte',
  'settle_lease',
  'report',
] as const;
export type SettleStep = (typeof SETTLE_STEPS)[number];

/**
 * Which figures are billed, by how the answer ended. Written once here; `settle` follows it and a test walks each
 * row both ways (the provider gave usage / gave none).
 *
 * - `no_bytes`: nothing was generated, because every attempt failed. Billed 0. What providers charge for it is our
 *   cost.
 * - `given_up`: a call was sent, and the caller left, or a deadline of its own or its workspace's passed, before any
 *   content came. Its input, which providers charge from the moment they have it.
 * - `partial`: content arrived, then the caller went away or the stream was cut. Input, and the output that
 * arrived.
 * - `complete`: a normal end. The provider's usage; where it gave none, the estimate of what passed.
 * - `interrupted`: the gateway died. Settled at the next boot by what `call.started` reserved: the input estimate
 * and no
 *   output, because nothing proves that any was delivered.
 */
export const ABORT_CASES = ['no_bytes', 'given_up', 'partial', 'complete', 'interrupted'] as const;
export type AbortCase = (typeof ABORT_CASES)[number];
