import { ERROR_CATALOGUE, type ErrorEntry } from '@sluice/contracts';

/** The catalogue of refusals as the table of docs/api.md, one line for each code. */
export function errorTable(): string[] {
  return [
    '| `x-sluice-refusal` | OpenAI: status, `type`, `code` | Anthropic: status, `type` | outcome | again? | what it says |',
    '|---|---|---|---|---|---|',
    ...Object.entries<ErrorEntry>(ERROR_CATALOGUE).map(([code, entry]) => `| ${errorCells(code, entry).join(' | ')} |`),
  ];
}

function errorCells(code: string, entry: ErrorEntry): string[] {
  return [
    `\`${code}\``,
    `${entry.status.openai} \`${entry.openaiType}\` \`${entry.openaiCode}\``,
    `${entry.status.anthropic} \`${entry.anthropicType}\``,
    `\`${entry.outcome}\``,
    entry.retryable ? 'yes' : 'no',
    entry.publicText,
  ];
}
