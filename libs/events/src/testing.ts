export * from './memory-bus.ts';
