import type { Attack } from './attack.ts';
import { BODIES } from './bodies.ts';
import { FLOODS } from './floods.ts';
import { HOLDS } from './holds.ts';
import { LIES } from './lies.ts';

/** Every attack, by name; what `make chaos` runs whole and the tests in short form. */
export const ATTACKS: readonly Attack[] = [...FLOODS, ...HOLDS, ...BODIES, ...LIES];
