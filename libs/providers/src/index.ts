export * from './registry.ts';
export * from './transport.ts';
export * from './openai/adapter.ts';
export * from './anthropic/adapter.ts';
export * from './sse-codec.ts';
export * from './json-splice.ts';
