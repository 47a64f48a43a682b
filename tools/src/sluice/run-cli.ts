import { parseArgs } from 'node:util';
import { createApiClient, type Connection } from './api-client.ts';
import { CliError } from './cli-error.ts';
import type { Command, CommandContext } from './command.ts';
import { OPERATION_COMMANDS } from './operation-commands.ts';
import { PLATFORM_COMMANDS } from './platform-commands.ts';
import { RESOURCE_COMMANDS } from './resource-commands.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  ...PLATFORM_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...OPERATION_COMMANDS,
};

const text = { type: 'string' } as const;
const OPTIONS = {
  json: { type: 'boolean', default: false },
  yes: { type: 'boolean', short: 'y', default: false },
  prune: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  file: { ...text, short: 'f' },
  url: text,
  user: text,
  workspace: text,
  tenant: text,
  name: text,
  expires: text,
  grace: text,
  scope: text,
  target: text,
  message: text,
  'retry-after': text,
} as const;

/** What surrounds the command line, so that tests can stand in for it. */
export interface CliSurroundings extends Pick<CommandContext, 'env' | 'print' | 'note' | 'ask' | 'readText'> {
  connect(options: { readonly url?: string | undefined; readonly user?: string | undefined }): Connection;
}

export const HELP: readonly string[] = [
  'sluice <command> [options]: the operator API from a terminal',
  '',
  ...Object.values(COMMANDS).flatMap(({ usage, summary }) => [`  sluice ${usage}`, `      ${summary}`]),
  '',
  '  --json prints the answer as JSON. --url and --user, or SLUICE_URL, SLUICE_USER, SLUICE_PASSWORD and SLUICE_TOKEN, say which',
  '  control plane and as whom; without them the stack that runs here. Exit codes: 0 done, 1 failed, 2 not understood, 3 diff differs.',
];

/** Runs one command line; the exit code. Nothing is thrown: what went wrong is noted. */
export async function runCli(args: readonly string[], surroundings: CliSurroundings): Promise<number> {
  try {
    return await run(args, surroundings);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    surroundings.note(`sluice: ${error.message}`);
    return error.exitCode;
  }
}

async function run(args: readonly string[], surroundings: CliSurroundings): Promise<number> {
  const { values, positionals } = understand(args);
  const [word = 'help', ...words] = positionals;
  if (values.help || word === 'help') {
    for (const line of HELP) surroundings.print(line);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (command === undefined) throw new CliError(`There is no command ${word}. \`sluice help\` lists them.`, 2);
  const api = createApiClient(surroundings.connect(values));
  try {
    return await command.run({ ...surroundings, api, words, flags: values });
  } finally {
    await api.close();
  }
}

function understand(args: readonly string[]): { values: ReturnType<typeof parse>['values']; positionals: string[] } {
  try {
    return parse(args);
  } catch (error) {
    throw new CliError(`${(error as Error).message.split('. ', 1)[0] ?? ''}. \`sluice help\` lists the options.`, 2);
  }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
}
