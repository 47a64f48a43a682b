import { eventually } from '@sluice/testing';
import { comeBack } from './come-back.ts';
import type { CompiledConfig } from './compiled-config.ts';

/** One turn of the loop in the place of a pause. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const CONFIG = { version: 7 } as CompiledConfig;

function bootWith(first: CompiledConfig | undefined) {
  let current = first;
  let stopped = false;
  const recovered: number[] = [];
  const faults: unknown[] = [];
  const order: string[] = [];
  const done = comeBack({
    config: {
      ready: async () => (order.push('ready'), true),
      tried: async () => void order.push('tried'),
      current: () => current,
    },
    recover: async (config) => void (order.push('recover'), recovered.push(config.version)),
    stopped: () => stopped,
    onFault: (error) => faults.push(error),
    wait: turn,
  });
  return {
    done,
    recovered,
    faults,
    order,
    put: (config: CompiledConfig) => (current = config),
    stop: () => (stopped = true),
  };
}

describe('a boot', () => {
  it('hears the control plane before it recovers by a saved configuration', async () => {
    const boot = bootWith(CONFIG);
    await boot.done;
    expect(boot.order).toEqual(['ready', 'tried', 'recover']);
  });

  it('that may not serve goes on waiting without holding up the rest, and recovers once when it may', async () => {
    const boot = bootWith(undefined);
    await boot.done;
    expect(boot.recovered).toEqual([]);
    boot.put(CONFIG);
    await eventually(() => expect(boot.recovered).toEqual([7]));
    for (let pauses = 0; pauses < 20; pauses += 1) await turn();
    expect(boot.recovered).toEqual([7]);
    expect(boot.faults).toEqual([]);
  });
});
