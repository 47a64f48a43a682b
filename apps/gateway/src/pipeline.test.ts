import type { Refusal } from '@sluice/contracts';
import type { Call } from './call.ts';
import { createCancelToken } from './cancel-token.ts';
import { pipelineOf, runPipeline, type Stages } from './pipeline.ts';
import { STAGE_NAMES, type Stage, type StageName } from './stage.ts';

function stagesThat(run: (name: StageName) => Refusal | undefined | Promise<Refusal | undefined>): Stages {
  return Object.fromEntries(
    STAGE_NAMES.map((name): [StageName, Stage] => [name, { name, run: () => run(name) }]),
  ) as Stages;
}

const call = (): Call =>
  ({
    cancel: createCancelToken(),
    answer: undefined,
    refusal: undefined,
    response: { destroy: () => undefined },
  }) as unknown as Call;

async function runWith(run: (name: StageName) => Refusal | undefined | Promise<Refusal | undefined>, given = call()) {
  const seen: StageName[] = [];
  const faults: unknown[] = [];
  await runPipeline(
    pipelineOf(
      stagesThat((name) => {
        seen.push(name);
        return run(name);
      }),
    ),
    given,
    (error) => faults.push(error),
  );
  return { seen, faults, call: given };
}

describe('the request path', () => {
  it('runs in the order of the design', () => {
    expect(pipelineOf(stagesThat(() => undefined)).map((stage) => stage.name)).toEqual([
      'authenticate',
      'place',
      'read_body',
      'resolve',
      'idempotency',
      'cache',
      'admit',
      'route',
      'attempt',
      'relay',
      'settle',
    ]);
  });

  it.each(STAGE_NAMES.slice(0, -1))('a refusal of %s ends the way, and settle still runs, once', async (refusing) => {
    const { seen, call: ended } = await runWith((name) => (name === refusing ? { code: 'throttled' } : undefined));
    expect(seen.at(-1)).toBe('settle');
    expect(seen.filter((name) => name === 'settle')).toHaveLength(1);
    expect(seen.at(-2)).toBe(refusing);
    expect(ended.refusal).toEqual({ code: 'throttled' });
  });

  it('a stage that breaks becomes an internal error without its text, and settle still runs', async () => {
    const {
      seen,
      faults,
      call: ended,
    } = await runWith(async (name) => {
      if (name === 'admit') throw new Error('the database password is wrong');
      return undefined;
    });
    expect(seen.at(-1)).toBe('settle');
    expect(ended.refusal).toEqual({ code: 'internal' });
    expect(faults).toHaveLength(1);
  });

  it('a caller who went away is not worked for', async () => {
    const gone = call();
    const { seen } = await runWith((name) => {
      if (name === 'read_body') gone.cancel.cancel('client_closed');
      return undefined;
    }, gone);
    expect(seen).toEqual(['authenticate', 'place', 'read_body', 'settle']);
    expect(gone.refusal).toEqual({ code: 'client_closed' });
  });
});
