import {
  inputTokens,
  outputTokens,
  type AuditedUse,
  type CallSettled,
  type CorrectionCounts,
  type QuotaAuditRequest,
  type QuotaAuditResponse,
} from '@sluice/contracts';

export const FAKE_WORKSPACE = '00000000-0000-4000-8000-000000000001';

/** A ledger of rows in memory, as the control plane answers for it. */
export class FakeLedger {
  readonly records: CallSettled[] = [];
  readonly corrections: { readonly atMs: number; readonly callAtMs: number; readonly tokens: number }[] = [];
  /** How many of the records it holds. */
  holds = 0;
  down = false;
  asked = 0;

  takeAll(): void {
    this.holds = this.records.length;
  }

  readonly audit = async ({ levels }: QuotaAuditRequest): Promise<QuotaAuditResponse> => {
    this.asked += 1;
    if (this.down) throw new Error('unreachable');
    const rows = this.records.slice(0, this.holds);
    const last = (epoch: number): number =>
      Math.max(0, ...rows.filter((row) => row.epoch === epoch).map((row) => row.sequence));
    return {
      levels: levels.map(({ counted, spans }) => ({
        held: counted.every(
          ({ epoch, runs, earlier }) =>
            last(epoch) >= (runs.at(-1)?.[1] ?? 0) && earlier.every((one) => last(one.epoch) >= one.last),
        ),
        spans: spans.map(({ from_ms, to_ms = Infinity, step_ms }) => {
          const sums = new Map<number, AuditedUse>();
          const add = (atMs: number, use: Omit<AuditedUse, 'at_ms'>): void => {
            if (atMs < from_ms || atMs >= to_ms) return;
            const at_ms = step_ms === undefined ? from_ms : Math.floor(atMs / step_ms) * step_ms;
            const sum = sums.get(at_ms) ?? { at_ms, input_tokens: 0, output_tokens: 0, billed_nanousd: 0 };
            sum.input_tokens += use.input_tokens;
            sum.output_tokens += use.output_tokens;
            sum.billed_nanousd += use.billed_nanousd;
            sums.set(at_ms, sum);
          };
          for (const row of rows) {
            const own = counted.find(({ gateway_id }) => gateway_id === row.gateway_id);
            const isCounted =
              own === undefined ||
              row.epoch < own.epoch ||
              (row.epoch === own.epoch && own.runs.some(([from, to]) => row.sequence >= from && row.sequence <= to));
            if (isCounted)
              add(Date.parse(row.occurred_at), {
                input_tokens: inputTokens(row.usage),
                output_tokens: outputTokens(row.usage),
                billed_nanousd: row.billed_nanousd,
              });
          }
          for (const { atMs, callAtMs, tokens } of this.corrections)
            add(step_ms === undefined ? atMs : callAtMs, { input_tokens: tokens, output_tokens: 0, billed_nanousd: 0 });
          return [...sums.values()];
        }),
      })),
    };
  };

  readonly counts = async (): Promise<CorrectionCounts> => {
    if (this.down) throw new Error('unreachable');
    return {
      keys:
        this.corrections.length === 0
          ? []
          : [
              {
                tenant_id: 'acme',
                workspace_id: FAKE_WORKSPACE,
                key_id: 'key00001',
                corrections: this.corrections.length,
              },
            ],
    };
  };

  /** What it holds of the month of an instant, tokens. */
  month(ms: number): number {
    const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);
    return (
      this.records
        .filter((row) => monthOf(Date.parse(row.occurred_at)) === monthOf(ms))
        .reduce((sum, { usage }) => sum + inputTokens(usage) + outputTokens(usage), 0) +
      this.corrections.filter(({ atMs }) => monthOf(atMs) === monthOf(ms)).reduce((sum, { tokens }) => sum + tokens, 0)
    );
  }
}
