import { createLogger, runService } from '@sluice/service-kit';
import { startFromEnvironment } from './compose.ts';

const logger = createLogger({ service: 'provider-sim' });
await runService({ name: 'provider-sim', logger, start: () => startFromEnvironment(process.env) });
