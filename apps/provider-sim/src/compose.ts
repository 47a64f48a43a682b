import { portsFrom, SIM_PROVIDERS, type SimProviderName } from '@sluice/contracts';
import { listenOn, loadConfig, SERVICE_ENV } from '@sluice/service-kit';
import { z } from 'zod';
import { anthropicDialect } from './anthropic-dialect.ts';
import { createControlServer } from './control-server.ts';
import { openaiDialect } from './openai-dialect.ts';
import { startProvider, type Provider } from './start-provider.ts';

const DIALECTS = { openai: openaiDialect, anthropic: anthropicDialect } as const;
const Env = z.object(SERVICE_ENV);

export interface ProviderSim {
  readonly controlUrl: string;
  readonly urls: Record<SimProviderName, string>;
  close(): Promise<void>;
}

export interface ProviderSimOptions {
  host: string;
  ports: Record<'simControl' | 'simPrimary' | 'simSecondary' | 'simTertiary', number>;
  slots?: number;
}

/** Boots the three providers, then their control port; closes what is open when one fails. */
export async function startProviderSim({ host, ports, slots }: ProviderSimOptions): Promise<ProviderSim> {
  const portOf = { primary: ports.simPrimary, secondary: ports.simSecondary, tertiary: ports.simTertiary };
  const open: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => void (await Promise.all(open.map((one) => one.close())));
  const start = async (name: SimProviderName): Promise<Provider> => {
    const provider = await startProvider({
      name,
      dialect: DIALECTS[SIM_PROVIDERS[name]],
      host,
      port: portOf[name],
      ...(slots === undefined ? {} : { slots }),
    });
    open.push(provider);
    return provider;
  };
  try {
    const providers = {
      primary: await start('primary'),
      secondary: await start('secondary'),
      tertiary: await start('tertiary'),
    };
    const control = await listenOn(createControlServer(Object.values(providers)), {
      host,
      port: ports.simControl,
      graceMs: 500,
    });
    open.push(control);
    const { primary, secondary, tertiary } = providers;
    return {
      controlUrl: control.url,
      urls: { primary: primary.url, secondary: secondary.url, tertiary: tertiary.url },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same from the environment: HOST and SLUICE_PORT_BASE. @throws ConfigError, RangeError. */
export function startFromEnvironment(env: Record<string, string | undefined>): Promise<ProviderSim> {
  const config = loadConfig(Env, env);
  return startProviderSim({ host: config.HOST, ports: portsFrom(config.SLUICE_PORT_BASE) });
}
