export { limitStoreConformance } from './limit-store.conformance.ts';
