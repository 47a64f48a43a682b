import { bench } from './bench/bench.ts';
import { StackError } from './stack/running-stack.ts';
import { stackSettings, type StackSettings } from './stack/settings.ts';
import { chaos } from './verbs/chaos.ts';
import { demo } from './verbs/demo.ts';
import { down } from './verbs/down.ts';
import { logs } from './verbs/logs.ts';
import { seed } from './verbs/seed.ts';
import { status } from './verbs/status.ts';
import { up } from './verbs/up.ts';
import { verify } from './verbs/verify.ts';
import { verifyDeep } from './verbs/verify-deep.ts';

type Verb = (settings: StackSettings, args: readonly string[]) => Promise<number>;

const VERBS: Readonly<Record<string, Verb>> = {
  up,
  down,
  status,
  logs,
  seed,
  demo,
  verify,
  'verify-deep': verifyDeep,
  chaos,
  bench,
};

async function main([name, ...args]: readonly string[]): Promise<number> {
  const verb = VERBS[name ?? ''];
  if (verb === undefined) throw new StackError(`There is no verb '${name ?? ''}'. \`make help\` lists them.`);
  return verb(stackSettings(process.cwd(), process.env), args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(
    `sluice: ${error instanceof StackError || error instanceof RangeError ? error.message : (error as Error).stack}`,
  );
  process.exitCode = 1;
}
