import { fileURLToPath } from 'node:url';
import { createLogger, loadConfig, runService } from '@sluice/service-kit';
import { startControlPlane } from './compose.ts';
import { ControlPlaneEnv } from './settings.ts';

const logger = createLogger({ service: 'control-plane' });

await runService({
  name: 'control-plane',
  logger,
  start: () =>
    startControlPlane({
      env: loadConfig(ControlPlaneEnv, process.env),
      logger,
      consoleDir: fileURLToPath(new URL('../../operator-console/dist/', import.meta.url)),
    }),
});
