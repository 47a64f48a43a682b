import { frontierOptions } from '../frontier/frontier-options.ts';
import { benchFrontier } from '../frontier/frontier-section.ts';
import { floorLine } from '../frontier/print-frontier.ts';
import type { DeepCheck } from './deep-check.ts';

/** The floors of cost and quality; on the simulator alone where SLUICE_ROUTER_DATA names no tables. */
export const frontierCheck: DeepCheck = {
  name: 'The router frontier keeps its floors: cost saved, AIQ and APGR on rows that nothing was fitted on',
  run: async ({ env }) => {
    const options = frontierOptions(env);
    const floors = benchFrontier({ ...options, print: (line) => console.log(line) });
    const missed = floors.filter(({ value, floor }) => !(value >= floor));
    if (missed.length > 0) throw new Error(missed.map(floorLine).join('; '));
    return `${floors.length} floors kept${options.data === undefined ? ', of the simulator alone: SLUICE_ROUTER_DATA names no tables' : ''}`;
  },
};
