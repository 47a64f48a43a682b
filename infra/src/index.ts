export { SpineStack, type SpineStackOptions } from './spine-stack.ts';
export { synthSpine, writeSpine } from './synth-spine.ts';
