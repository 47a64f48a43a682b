import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text as readStream } from 'node:stream/consumers';
import { CliError } from './cli-error.ts';
import { connectionFrom } from './connect.ts';
import { runCli } from './run-cli.ts';

// Whoever reads the answer may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  connect: (options) => connectionFrom(options, process.env, process.cwd()),
  print: (line) => console.log(line),
  note: (line) => console.error(line),
  readText: async (path) => {
    if (path === '-') return readStream(process.stdin);
    return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CliError(`${path} cannot be read: ${error.code ?? error.message}`);
    });
  },
  ask: async (question) => {
    if (!process.stdin.isTTY) return undefined;
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
    } finally {
      terminal.close();
    }
  },
});
