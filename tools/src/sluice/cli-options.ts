import { Option } from 'commander';

/** Every option that a command may have, by its name in `Flags`. */
const OPTIONS = {
  json: ['--json', 'print the answer as JSON and nothing else'],
  url: ['--url <url>', 'the control plane; SLUICE_URL unless given'],
  user: ['--user <name>', 'as whom; SLUICE_USER unless given'],
  yes: ['-y, --yes', 'do not ask'],
  prune: ['--prune', 'remove what the file does not name'],
  file: ['-f, --file <file>', 'YAML or JSON; - is standard input'],
  workspace: ['--workspace <slug>', 'of this workspace'],
  tenant: ['--tenant <id>', 'of this tenant'],
  name: ['--name <text>', 'what people read'],
  expires: ['--expires <instant>', 'such as 2027-01-31T00:00:00Z'],
  grace: ['--grace <seconds>', 'how long the old key works on'],
  scope: ['--scope <scope>', 'all, provider, model, feature or workspace'],
  target: ['--target <id>', 'which of them'],
  message: ['--message <text>', 'what customers read'],
  'retry-after': ['--retry-after <seconds>', 'when customers try again'],
} as const;

export type OptionName = keyof typeof OPTIONS;

/** Options of every command. */
const COMMON: readonly OptionName[] = ['json', 'url', 'user'];

/** The options of a command: its own, then those of all. */
export function optionsFor(names: readonly OptionName[]): Option[] {
  return [...names, ...COMMON].map((name) => {
    const [flags, description] = OPTIONS[name];
    return new Option(flags, description);
  });
}
