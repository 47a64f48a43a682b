import { LOCAL_REGION, portsFrom } from '@sluice/contracts';
import { createSpineClients, provisionTopology } from '@sluice/events';
import { createLogger, runService } from '@sluice/service-kit';
import { buildApp } from 'fauxqs';
import { seededTopology } from './seeded-topology.ts';

/**
 * The local event spine: an SNS and SQS emulator with the declared topology. Its memory dies with it; the gateway's
 * outbox publishes again what the ledger does not have. `GET /health` answers 200 while it runs.
 */
const logger = createLogger({ service: 'spine' });

await runService({
  name: 'spine',
  logger,
  start: async () => {
    const host = process.env['HOST'] ?? '127.0.0.1';
    const port = portsFrom(Number(process.env['SLUICE_PORT_BASE'] ?? 0)).spine;
    const region = process.env['AWS_REGION'] ?? LOCAL_REGION;
    const topology = seededTopology(process.env['SLUICE_SEED_FILE']);
    const app = buildApp({ logger: false, defaultRegion: region });
    const url = await app.listen({ host, port });
    const clients = createSpineClients({
      endpoint: url,
      region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    try {
      await provisionTopology(topology, clients);
    } finally {
      clients.close();
    }
    logger.info(
      { url, topics: topology.topics.length, queues: topology.queues.length },
      'the declared topology is provisioned',
    );
    return { close: () => app.close() };
  },
});
