export * from './outcome-bars.tsx';
export * from './badge.tsx';
export * from './format.ts';
