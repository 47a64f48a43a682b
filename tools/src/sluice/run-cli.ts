import { readFileSync } from 'node:fs';
import { Command as Program, CommanderError } from 'commander';
import { createApiClient, type Connection } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { optionsFor } from './cli-options.ts';
import type { Command, CommandContext, Flags } from './command.ts';
import { OPERATION_COMMANDS } from './operation-commands.ts';
import { PLATFORM_COMMANDS } from './platform-commands.ts';
import { RESOURCE_COMMANDS } from './resource-commands.ts';

/** All commands by name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ...PLATFORM_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...OPERATION_COMMANDS,
};

/** What surrounds the command line, so that tests can stand in for it. */
export interface CliSurroundings extends Pick<CommandContext, 'env' | 'print' | 'note' | 'ask' | 'readText'> {
  connect(options: { readonly url?: string | undefined; readonly user?: string | undefined }): Connection;
}

const ABOUT = 'The operator API from a terminal.';
const MORE = [
  '',
  '--url and --user, or SLUICE_URL, SLUICE_USER, SLUICE_PASSWORD and SLUICE_TOKEN, say which control plane and as',
  'whom; without them the stack that runs here. Exit codes: 0 done, 1 failed, 2 not understood, 3 diff differs.',
].join('\n');

/** Runs one command line; the exit code. Nothing is thrown: what went wrong is noted. */
export async function runCli(args: readonly string[], surroundings: CliSurroundings): Promise<number> {
  let exitCode = 0;
  const program = programFor(surroundings, (code) => (exitCode = code));
  try {
    await program.parseAsync(args.length === 0 ? ['help'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said itself what it did not understand.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CliError)) throw error;
    surroundings.note(`sluice: ${error.message}`);
    return error.exitCode;
  }
}

function programFor(surroundings: CliSurroundings, onExit: (code: number) => void): Program {
  const lines = (write: (line: string) => void) => (text: string) => write(text.replace(/\n$/, ''));
  const program = new Program('sluice')
    .description(ABOUT)
    .version(version())
    .addHelpText('after', MORE)
    .exitOverride()
    .configureOutput({
      writeOut: lines(surroundings.print),
      writeErr: lines(surroundings.note),
      outputError: (text, write) => write(`sluice: ${text.replace(/^error: /, '')}`),
      getOutHelpWidth: () => 120,
    });
  for (const [name, command] of Object.entries(COMMANDS)) {
    const sub = program.command(name).description(command.summary).copyInheritedSettings(program);
    if (command.alias !== undefined) sub.alias(command.alias);
    for (const argument of command.args) sub.argument(argument);
    for (const option of optionsFor(command.options)) sub.addOption(option);
    sub.action(async () => onExit(await runCommand(command, sub, surroundings)));
  }
  return program;
}

async function runCommand(command: Command, sub: Program, surroundings: CliSurroundings): Promise<number> {
  const { retryAfter, ...given } = sub.opts<Record<string, string | boolean | undefined>>();
  const flags = { json: false, yes: false, prune: false, ...given, 'retry-after': retryAfter } as Flags;
  const { url, user } = given as { url?: string; user?: string };
  const api = createApiClient(surroundings.connect({ url, user }));
  try {
    return await command.run({ ...surroundings, api, words: sub.args, flags });
  } finally {
    await api.close();
  }
}

function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
