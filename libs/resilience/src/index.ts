export * from './breaker.ts';
export * from './retry.ts';
export * from './retry-budget.ts';
export * from './deadline.ts';
export * from './account.ts';
export { createAccount } from './create-account.ts';
export { RecentMap } from './recent-map.ts';
