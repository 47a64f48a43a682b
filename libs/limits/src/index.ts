export * from './token-bucket.ts';
export { createMemoryLimitStore, type MemoryLimitStore } from './memory-limit-store.ts';
export { meterUnits } from './admission.ts';
export { windowSpan, type WindowSpan } from './quota-window.ts';
export { calendarOf, type Calendar, type Period } from './calendar.ts';
export * from './fair-queue.ts';
export * from './slot-pool.ts';
export { createValkeyLimitStore, type ValkeyLimitStoreOptions } from './valkey-limit-store.ts';
export type { TierLimitStore, TierOptions } from './tier-limit-store.ts';
