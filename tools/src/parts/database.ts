import { z } from 'zod';
import { portsFrom } from '@sluice/contracts';
import { createLogger, loadConfig, runService } from '@sluice/service-kit';
import { findBinaries } from './postgres/binaries.ts';
import { postgresOwner } from './postgres/owner.ts';
import { startPostgres } from './postgres/start-postgres.ts';

const Settings = z.object({
  SLUICE_PORT_BASE: z.coerce.number().int().default(0),
  SLUICE_DATA_DIR: z.string().min(1),
  SLUICE_DB_PASSWORD: z.string().min(1).optional(),
  DATABASE_URL: z.string().optional(),
});

const logger = createLogger({ service: 'database' });

/** The stack's PostgreSQL, on loopback only: user and database `sluice`, data in SLUICE_DATA_DIR/postgres. */
void runService({
  name: 'database',
  logger,
  // A fast shutdown writes a checkpoint.
  drainMs: 30_000,
  start: async () => {
    const settings = loadConfig(Settings, process.env);
    const password = settings.SLUICE_DB_PASSWORD ?? passwordOf(settings.DATABASE_URL);
    if (password === undefined) throw new Error('SLUICE_DB_PASSWORD is not set, and DATABASE_URL has no password');
    const owner = postgresOwner();
    const server = await startPostgres({
      binaries: await findBinaries(owner),
      owner,
      dataDir: settings.SLUICE_DATA_DIR,
      port: portsFrom(settings.SLUICE_PORT_BASE).postgres,
      password,
      log: (line) => logger.info(line),
      onExit: (code) => {
        logger.fatal({ code }, 'the PostgreSQL server ended by itself');
        process.exit(1);
      },
    });
    logger.info({ port: server.port }, 'the database accepts connections');
    return { close: () => server.stop() };
  },
});

function passwordOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { password } = new URL(url);
  return password === '' ? undefined : decodeURIComponent(password);
}
