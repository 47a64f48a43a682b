import { stringify } from 'yaml';
import { PlatformDiff, PlatformDocument } from '@sluice/contracts';
import { ApiError } from './api-client.ts';
import { CliError } from './cli-error.ts';
import type { Command, CommandContext } from './command.ts';
import { renderCounts, renderDiff } from './render.ts';
import { faultLine, readYaml, type YamlFile } from './yaml-file.ts';

/** Exit code of `diff` when there is something to do. */
export const DIFFERS = 3;

async function readDocument({ flags, env, readText }: CommandContext): Promise<YamlFile<PlatformDocument>> {
  const { file } = flags;
  if (file === undefined) throw new CliError('Which file? Give -f platform.yaml, or -f - for standard input.', 2);
  return readYaml(file === '-' ? '(standard input)' : file, await readText(file), PlatformDocument, env);
}

/** Sends the document; faults are told at their places in the file. */
async function send(
  context: CommandContext,
  what: 'diff' | 'apply',
  file: YamlFile<PlatformDocument>,
  ifVersion?: number,
): Promise<PlatformDiff> {
  try {
    const { body } = await context.api.send('POST', `/api/platform/${what}`, {
      document: file.value,
      prune: context.flags.prune,
      ...(ifVersion === undefined ? {} : { ifVersion }),
    });
    return PlatformDiff.parse(body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem?.errors === undefined) throw error;
    throw new CliError(
      error.problem.errors
        .map(({ path, message }) => faultLine(file.locate, path.replace(/^document\./, ''), message))
        .join('\n'),
    );
  }
}

const show = (context: CommandContext, diff: PlatformDiff): void => {
  if (context.flags.json) context.print(JSON.stringify(diff, null, 2));
  else for (const line of renderDiff(diff)) context.print(line);
};

/** Declared platforms: look, apply, export. */
export const PLATFORM_COMMANDS: Readonly<Record<string, Command>> = {
  apply: {
    args: [],
    options: ['file', 'yes', 'prune'],
    summary: 'bring the configuration to what the file declares; shows the difference and asks first',
    run: async (context) => {
      const { flags, ask, note, print } = context;
      const file = await readDocument(context);
      const looked = await send(context, 'diff', file);
      if (looked.changes.length === 0) {
        if (flags.json) print(JSON.stringify({ ...looked, applied: true }, null, 2));
        else for (const line of [...renderDiff(looked), 'Nothing to do.']) print(line);
        return 0;
      }
      if (!flags.json) show(context, looked);
      if (!flags.yes) {
        const agreed = await ask(`${renderCounts(looked.changes)}. Apply?`);
        if (agreed === undefined) throw new CliError('Nobody is here to agree to that: give --yes.');
        if (!agreed) {
          note('Nothing was changed.');
          return 1;
        }
      }
      const applied = await send(context, 'apply', file, looked.version);
      if (flags.json) show(context, applied);
      else
        print(
          `Applied: ${renderCounts(applied.changes).replaceAll(' to create', ' created').replaceAll(' to change', ' changed').replaceAll(' to remove', ' removed')}; the configuration is at version ${applied.version}.`,
        );
      if (!flags.json)
        for (const { email, workspace, role, invitation, expires_at } of applied.invitations)
          print(
            `${email} becomes ${role} of ${workspace} once the owner of the account takes this invitation, until ${expires_at}: ${invitation}`,
          );
      return 0;
    },
  },
  diff: {
    args: [],
    options: ['file', 'prune'],
    summary: `what apply would change; exits ${DIFFERS} when that is anything`,
    run: async (context) => {
      const looked = await send(context, 'diff', await readDocument(context));
      show(context, looked);
      if (!context.flags.json)
        context.print(looked.changes.length === 0 ? 'Nothing to do.' : `${renderCounts(looked.changes)}.`);
      return looked.changes.length === 0 ? 0 : DIFFERS;
    },
  },
  export: {
    args: [],
    options: [],
    summary: 'the configuration as a file that apply takes; without secrets',
    run: async ({ api, flags, print }) => {
      // As it came: parsing would fill in every default.
      const { body: document } = await api.send('GET', '/api/platform');
      if (flags.json) print(JSON.stringify(escapeVariables(document), null, 2));
      else print(stringify(escapeVariables(document), { lineWidth: 0 }).trimEnd());
      return 0;
    },
  },
};

/** `${` of a stored text is no variable when the file is read again. */
function escapeVariables(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', '$${');
  if (Array.isArray(value)) return value.map(escapeVariables);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, escapeVariables(field)]));
}
