import { OUTBOX_LOSSES, runLoss, SHORT } from '../deep/outbox-losses.ts';
import { startFullStack, type FullStack } from './full-stack.ts';

let stack: FullStack;
beforeAll(async () => {
  stack = await startFullStack({ late: AbortSignal.timeout(200_000) });
}, 240_000);
afterAll(() => stack?.stop(), 90_000);

describe('every answered call is in the ledger exactly once', () => {
  it.each(OUTBOX_LOSSES.map((loss) => [loss.name, loss] as const))(
    'after %s',
    async (_name, loss) => {
      const figures = await runLoss(loss, stack, SHORT, () => undefined);
      expect(figures).toMatch(/[1-9]\d* answered, all in the ledger once/);
    },
    300_000,
  );
});
