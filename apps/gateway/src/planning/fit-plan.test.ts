import { type AttemptPlan, type InboundCall, Provider } from '@sluice/contracts';
import { createAdapterRegistry } from '@sluice/providers';
import { fitPlan } from './fit-plan.ts';

const adapters = createAdapterRegistry().get;
const entry = (id: string, dialect: 'openai' | 'anthropic') => ({
  provider: Provider.parse({
    id,
    displayName: id,
    dialect,
    baseUrl: 'http://127.0.0.1:1',
    credentials: [{ id: 'main', slots: 1 }],
  }),
});
const plan = (...entries: object[]) => ({ entries, source: 'static' }) as unknown as AttemptPlan;
const chat = (body: object): InboundCall => ({
  operation: 'chat',
  bytes: Buffer.alloc(0),
  body: { messages: [{ role: 'user', content: 'x' }], ...body },
  stream: false,
  wantsUsage: false,
  forwardHeaders: {},
});
const idsOf = (value: ReturnType<typeof fitPlan>) =>
  'code' in value ? value : value.entries.map((one) => one.provider.id);

describe('a plan over providers of both dialects', () => {
  const chain = plan(entry('a', 'anthropic'), entry('b', 'openai'), entry('c', 'anthropic'), entry('d', 'openai'));
  it('stays whole, the same object, for a call that every entry can carry', () => {
    expect(fitPlan(chain, chat({}), adapters)).toBe(chain);
  });
  it('loses the entries that cannot carry the call, and the others keep their order', () => {
    expect(idsOf(fitPlan(chain, chat({ n: 2 }), adapters))).toEqual(['b', 'd']);
  });
  it('is a 400 that names the field when no entry is left', () => {
    expect(idsOf(fitPlan(plan(entry('a', 'anthropic')), chat({ logprobs: true }), adapters))).toMatchObject({
      code: 'unsupported_field',
      param: 'logprobs',
    });
  });
});
