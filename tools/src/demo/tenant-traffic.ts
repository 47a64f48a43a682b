import type { CallRequest } from '../load/send-call.ts';

export type DemoTenant = 'acme' | 'globex' | 'initech';

/** What each demo tenant's product sends. */
export interface TrafficShape {
  readonly workspace: string;
  /** The call of the arrival with this number. */
  call(index: number): Omit<CallRequest, 'key'>;
}

export const STEADY: Readonly<Record<DemoTenant, TrafficShape>> = {
  acme: {
    workspace: 'acme-prod',
    call: (i) => ({
      model: i % 4 === 0 ? 'sim-medium' : 'sim-small',
      prompt: `Write a report on order ${i}.`,
      stream: i % 2 === 0,
      outputTokens: 230 + (i % 5) * 10,
    }),
  },
  globex: {
    workspace: 'globex-prod',
    call: (i) => ({
      model: i % 3 === 0 ? 'sim-medium' : 'sim-small',
      prompt: `Classify ticket ${i}.`,
      stream: i % 2 === 1,
      outputTokens: 18 + (i % 5),
    }),
  },
  initech: {
    workspace: 'initech-prod',
    call: (i) => ({ model: 'sim-small', prompt: `Summarise memo ${i}.`, stream: false, outputTokens: 8 }),
  },
};

/** Long answers fill the bulkhead, short ones run into the rate limit. */
export const FLOOD: TrafficShape = {
  workspace: 'initech-prod',
  call: (i) => ({
    model: 'sim-small',
    prompt: `Import row ${i}.`,
    stream: i % 3 === 0,
    outputTokens: i % 5 < 2 ? 500 : 10,
  }),
};
