import { decisionRow } from '../testing/fixtures.ts';
import { decisionView } from './decision-view.ts';

describe('a decision as it is read', () => {
  const stored = {
    ...decisionRow(1, {
      call: {
        outcome: 'ok',
        executedModel: 'small',
        costNanoUsd: 424_242_133_731,
        billedNanoUsd: 9_000_000,
        outputTokens: 20,
        totalMs: 99.5,
      },
    }),
    feedback: [],
  };

  it('tells a customer what is billed and never what providers charge us', () => {
    const view = decisionView(stored, 'key');
    expect(view.call).toEqual({
      outcome: 'ok',
      executed_model: 'small',
      billed_nanousd: 9_000_000,
      output_tokens: 20,
      total_ms: 99.5,
    });
    expect(JSON.stringify(view)).not.toContain('424242133731');
  });

  it('tells a service both', () => {
    expect(decisionView(stored, 'service').call).toMatchObject({
      cost_nanousd: 424_242_133_731,
      billed_nanousd: 9_000_000,
    });
  });
});
