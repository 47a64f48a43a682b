import type { Clock } from '@sluice/contracts';
import { createRetryBudget, type RetryBudget } from '@sluice/resilience';

/** The retry budget of each provider, made when it is first asked for. */
export function createRetryBudgets({ clock }: { clock: Clock }): (provider: string) => RetryBudget {
  const budgets = new Map<string, RetryBudget>();
  return (provider) => {
    let budget = budgets.get(provider);
    if (budget === undefined) budgets.set(provider, (budget = createRetryBudget({ clock })));
    return budget;
  };
}
