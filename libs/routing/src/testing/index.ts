export * from './learned-policy.ts';
export * from './logged-simulation.ts';
export * from './random.ts';
export * from './rollout-characteristics.ts';
export * from './simulator.ts';
