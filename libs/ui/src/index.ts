export * from './outcome-bars.tsx';
export * from './badge.tsx';
export * from './format.ts';
export * from './line-chart.tsx';
export * from './meter.tsx';
export * from './scatter-plot.tsx';
export * from './scroll-x.tsx';
