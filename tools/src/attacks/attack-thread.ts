import { parentPort, workerData } from 'node:worker_threads';
import type { AttackTarget } from './attack.ts';
import { ATTACKS } from './attacks.ts';

/** What the thread of an attack is given. */
export interface AttackOrder {
  readonly name: string;
  readonly target: AttackTarget;
}

const { name, target } = workerData as AttackOrder;
const attack = ATTACKS.find((one) => one.name === name);
if (attack === undefined) throw new Error(`There is no attack ${name}.`);
parentPort?.postMessage(await attack.run(target));
