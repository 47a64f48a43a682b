export * from './registry.ts';
export * from './transport.ts';
export * from './openai/adapter.ts';
export * from './anthropic/adapter.ts';
export * from './sse-codec.ts';
export { rateLimitsOf } from './rate-headers.ts';
export * from './json-splice.ts';
export * from './json-scan.ts';
export { MAX_JSON_DEPTH, MAX_JSON_PARTS } from './json-shape.ts';
