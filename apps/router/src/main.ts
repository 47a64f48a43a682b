import { createLogger, runService } from '@sluice/service-kit';
import { startRouter } from './start-router.ts';

const logger = createLogger({ service: 'router' });
await runService({ name: 'router', logger, start: () => startRouter({ env: process.env, logger }) });
