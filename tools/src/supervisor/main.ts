import { systemClock } from '@sluice/contracts';
import { stackFiles, stackSettings } from '../stack/settings.ts';
import { loadOrCreateSecrets } from '../stack/secrets.ts';
import { stackParts } from '../stack/stack-parts.ts';
import { writePrivateJson } from '../stack/private-file.ts';
import { describeStack } from '../stack/describe-stack.ts';
import { identify } from './process-identity.ts';
import { rotateLog } from './part-log.ts';
import { createSupervisor } from './supervisor.ts';

const ROTATE_EVERY_MS = 10_000;

/** The process that `up` leaves behind. It ends when it is told to (SIGTERM) or when the boot fails. */
async function main(): Promise<void> {
  const settings = stackSettings(process.cwd(), process.env);
  const files = stackFiles(settings.dataDir);
  const secrets = loadOrCreateSecrets(files.secrets);
  const parts = stackParts(settings, secrets);
  const self = identify(process.pid);
  if (self === undefined) throw new Error('this platform does not tell when a process was started');

  const supervisor = createSupervisor({
    parts,
    self,
    portBase: settings.portBase,
    clock: systemClock,
    logPath: files.log,
    save(state) {
      // First the stack file: whoever reads that the stack runs may look at it in the same moment.
      if (state.phase === 'running') writePrivateJson(files.stack, describeStack(settings, secrets, state));
      writePrivateJson(files.state, state);
    },
  });
  const stop = () => void supervisor.stop().then(() => process.exit(0));
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => undefined);

  if (!(await supervisor.start())) {
    if (supervisor.state.phase === 'failed') process.exit(1);
    return;
  }
  setInterval(() => parts.forEach((part) => rotateLog(files.log(part.name))), ROTATE_EVERY_MS);
}

await main();
