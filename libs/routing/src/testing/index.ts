export * from './learned-policy.ts';
export * from './random.ts';
export * from './simulator.ts';
