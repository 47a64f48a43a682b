export { SpineStack, type SpineStackOptions } from './spine-stack.ts';
