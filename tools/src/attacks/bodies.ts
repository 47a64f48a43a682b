import { wantsNo, type Attack } from './attack.ts';
import { atRate } from './attacker-client.ts';

/** Just under the largest body that is taken, 10 MiB. */
const BYTES = 9_600_000;

const fill = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length));

/** JSON that is hard on whoever reads it, as further fields of a body of about `bytes` bytes. */
export const HARD_JSON: Readonly<Record<string, (bytes: number) => string>> = {
  escapes: (bytes) => `,"metadata":{"note":"${fill('\\"', bytes)}"}`,
  brackets: (bytes) => `,"metadata":${fill('[', bytes / 2)}${fill(']', bytes / 2)}`,
  numbers: (bytes) => `,"logit_bias":[${fill('1.5e-3,', bytes)}0]`,
  padding: (bytes) => `,"unheard_of":"${fill('x', bytes)}"`,
  fields: (bytes) => `,"unheard_of":{${fill('"k":0,', bytes)}"z":0}`,
};

const SHAPES = Object.values(HARD_JSON);

/** Attacks by size and by shape of what is sent. */
export const BODIES: readonly Attack[] = [
  {
    name: 'large-bodies',
    text: 'Two tenants send bodies near the largest that is taken: escapes, brackets, numbers, padding, fields.',
    run: (target) => {
      const paddings = SHAPES.map((shape) => shape(BYTES * target.scale));
      return atRate(target, 2, ({ attacker }, index) => ({
        key: attacker.keys[0],
        padding: paddings[index % paddings.length] ?? '',
        sim: { output_tokens: 1, ttft_ms: 5, chunk_ms: 1 },
      }));
    },
    judge: (tally) => wantsNo(tally, 'internal_error'),
  },
  {
    name: 'large-prompts',
    text: 'Two tenants send prompts near the largest body, whatever their plan allows.',
    run: (target) => {
      const prompt = fill('Read this once more. ', BYTES * target.scale);
      return atRate(target, 2, ({ attacker }) => ({ key: attacker.keys[0], prompt }));
    },
    judge: (tally) => wantsNo(tally, 'internal_error'),
  },
];
