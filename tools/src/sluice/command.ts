import type { ApiClient } from './api-client.ts';
import type { OptionName } from './cli-options.ts';

/** What a command has to work with. */
export interface CommandContext {
  readonly api: ApiClient;
  /** Words after the command. */
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  /** Prints a line of the answer. */
  print(line: string): void;
  /** Prints a line for people beside the answer: what is asked, what is going on. */
  note(line: string): void;
  /** Asks a person; undefined when nobody is there to answer. */
  ask(question: string): Promise<boolean | undefined>;
  readText(path: string): Promise<string>;
}

/** Options of all commands; each uses the ones that its usage names. */
export interface Flags {
  readonly json: boolean;
  readonly yes: boolean;
  readonly prune: boolean;
  readonly file?: string | undefined;
  readonly workspace?: string | undefined;
  readonly tenant?: string | undefined;
  readonly name?: string | undefined;
  readonly expires?: string | undefined;
  readonly grace?: string | undefined;
  readonly scope?: string | undefined;
  readonly target?: string | undefined;
  readonly message?: string | undefined;
  readonly 'retry-after'?: string | undefined;
}

export interface Command {
  /** Another name that does the same: the plural or the singular. */
  readonly alias?: string;
  /** What follows the name: `<needed>`, `[optional]`, the last one `...` for several. */
  readonly args: readonly string[];
  /** Its own options; those of all commands are added. */
  readonly options: readonly OptionName[];
  readonly summary: string;
  /** The exit code. */
  run(context: CommandContext): Promise<number>;
}
