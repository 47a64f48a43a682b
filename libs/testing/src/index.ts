export * from './fake-clock.ts';
