import { createLogger, runService } from '@sluice/service-kit';
import { startBff } from './start-bff.ts';

const logger = createLogger({ service: 'console-bff' });
await runService({ name: 'console-bff', logger, start: () => startBff({ env: process.env, logger }) });
