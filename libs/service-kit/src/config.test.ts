import { z } from 'zod';
import { ConfigError, loadConfig, SERVICE_ENV } from './config.ts';

const schema = z.object({ ...SERVICE_ENV, DATABASE_URL: z.url(), TOKEN: z.string().min(16) });

describe('loadConfig', () => {
  it('gives typed values and defaults, and reads an empty variable as absent', () => {
    const config = loadConfig(schema, {
      SLUICE_PORT_BASE: '1000',
      HOST: '',
      DATABASE_URL: 'postgres://x',
      TOKEN: 'a'.repeat(16),
    });
    expect(config).toMatchObject({ SLUICE_PORT_BASE: 1000, HOST: '127.0.0.1' });
  });

  it('names every wrong variable at once and repeats none of their values', () => {
    const attempt = () => loadConfig(schema, { TOKEN: 'sekret', SLUICE_PORT_BASE: 'x' });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(
      /DATABASE_URL is not set\..*TOKEN is not valid|TOKEN is not valid.*DATABASE_URL is not set/s,
    );
    expect(attempt).toThrow(/SLUICE_PORT_BASE is not valid/);
    expect(attempt).not.toThrow(/sekret/);
  });
});
