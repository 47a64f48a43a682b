import { createLogger, runService } from '@sluice/service-kit';
import { composeGateway } from './compose.ts';
import { readSettings } from './environment.ts';

const logger = createLogger({ service: 'gateway' });

await runService({
  name: 'gateway',
  logger,
  drainMs: 40_000,
  start: async () => composeGateway(readSettings(process.env), logger, process.env),
});
