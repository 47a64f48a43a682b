import { fuzzWire } from '../fuzz/wire-fuzz.ts';
import type { DeepCheck } from './deep-check.ts';

const INPUTS = 10_000_000;

/** The long form of the fuzzer; `SLUICE_FUZZ_INPUTS` and `SLUICE_FUZZ_SEED` set how many and which inputs. */
export const fuzzCheck: DeepCheck = {
  name: 'The wire holds against a fuzz of ten million inputs: no crash, no growth, whole equals streamed, the same text out as in',
  run: async ({ env }) => {
    const inputs = Number(env['SLUICE_FUZZ_INPUTS'] ?? INPUTS);
    const seed = Number(env['SLUICE_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`     seed ${seed}`);
    const done = await fuzzWire(inputs, seed, (line) => console.log(`     ${line}`));
    return `${done.toLocaleString('en-US')} inputs from seed ${seed}`;
  },
};
