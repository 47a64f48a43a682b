// What works on bodies and opens no connection: for threads that start quickly because they load nothing else.
export * from './registry.ts';
export * from './json-scan.ts';
export { MAX_JSON_DEPTH, MAX_JSON_PARTS } from './json-shape.ts';
