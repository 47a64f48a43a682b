import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { z } from 'zod';

/** What a client was told about one of its calls. */
export const ClientRecord = z.object({
  /** When the answer had come, RFC 3339. */
  at: z.string(),
  workspace: z.string(),
  request_id: z.string(),
  outcome: z.string(),
  status: z.int(),
  /** From the answer itself; absent when it did not tell. */
  tokens: z.object({ input: z.int(), output: z.int() }).optional(),
  cost_nanousd: z.int().optional(),
});
export type ClientRecord = z.infer<typeof ClientRecord>;

/** Then the file becomes the older one, and the older one before it is gone. */
const MAX_BYTES = 16 * 1024 * 1024;

export function appendClientRecord(file: string, record: ClientRecord, maxBytes = MAX_BYTES): void {
  if (existsSync(file) && statSync(file).size > maxBytes) renameSync(file, `${file}.1`);
  appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** Every record that is held, oldest first. A line that was cut off by a kill is left out. */
export function readClientRecords(file: string): ClientRecord[] {
  const records: ClientRecord[] = [];
  for (const path of [`${file}.1`, file]) {
    if (!existsSync(path)) continue;
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      try {
        records.push(ClientRecord.parse(JSON.parse(line)));
      } catch {
        continue;
      }
    }
  }
  return records;
}
