export * from './fake-clock.ts';
export * from './eventually.ts';
export * from './free-port.ts';
export * from './raw-request.ts';
export * from './spawn-service.ts';
export * from './start-redis.ts';
export * from './unstorable-bodies.ts';
