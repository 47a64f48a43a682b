/** How a field is edited and told. */
export type Control =
  | { readonly kind: 'number'; readonly unit: string; readonly min: number; readonly max?: number }
  | { readonly kind: 'switch'; readonly on: string; readonly off: string }
  | { readonly kind: 'choice'; readonly options: readonly (readonly [value: string | number, title: string])[] }
  | { readonly kind: 'names'; readonly placeholder: string }
  | {
      readonly kind:
        | 'requests'
        | 'tokens'
        | 'concurrency'
        | 'quotas'
        | 'chain'
        | 'aliases'
        | 'features'
        | 'triggers'
        | 'downgrade'
        | 'unknown-price';
    };

export interface PolicyField {
  readonly path: string;
  readonly title: string;
  readonly hint: string;
  readonly control: Control;
  /** What it means that a policy says nothing here; `none` when absent. */
  readonly absent?: string;
}

export interface FieldGroup {
  readonly title: string;
  readonly note: string;
  readonly fields: readonly PolicyField[];
}

const ms = (max: number): Control => ({ kind: 'number', unit: 'ms', min: 1, max });

/** Every field of a policy that a customer sees, in the order of the page. */
export const FIELD_GROUPS: readonly FieldGroup[] = [
  {
    title: 'Limits of this workspace',
    note: 'They hold besides those of the plan for all workspaces together, and those of each key. The tightest decides.',
    fields: [
      {
        path: 'limits.requests',
        title: 'Requests',
        hint: 'How many requests may come in, and how many at once after a pause.',
        control: { kind: 'requests' },
        absent: 'no limit',
      },
      {
        path: 'limits.tokens',
        title: 'Tokens',
        hint: 'Input and output together.',
        control: { kind: 'tokens' },
        absent: 'no limit',
      },
      {
        path: 'limits.concurrency',
        title: 'At the same time',
        hint: 'Requests in progress; those that wait for a model count as well.',
        control: { kind: 'concurrency' },
        absent: 'no limit',
      },
      {
        path: 'limits.quotas',
        title: 'Quotas',
        hint: 'How much may be used in a day, a month or a rolling time.',
        control: { kind: 'quotas' },
      },
      {
        path: 'quotaStatus',
        title: 'Status when a quota is used up',
        hint: 'What callers get. Some clients know only 429.',
        control: {
          kind: 'choice',
          options: [
            [402, '402: payment required'],
            [429, '429: too many requests'],
          ],
        },
      },
      {
        path: 'stopMidStream',
        title: 'Running answers when a quota runs out',
        hint: 'A cut answer still ends properly.',
        control: { kind: 'switch', on: 'are cut', off: 'may finish' },
      },
    ],
  },
  {
    title: 'Models and fallback',
    note: 'Which models may be used, and who answers when a provider fails.',
    fields: [
      {
        path: 'acrossDialects',
        title: 'What a provider of another dialect cannot be told',
        hint: 'OpenAI and Anthropic each have fields that the other does not know.',
        control: {
          kind: 'choice',
          options: [
            ['refuse', 'the request goes to providers that can be told all of it, or is refused'],
            ['drop', 'it is left out and named in the header x-sluice-dropped'],
          ],
        },
      },
      {
        path: 'routing.chain',
        title: 'Providers',
        hint: 'In this order: the next one is asked when the one before fails.',
        control: { kind: 'chain' },
      },
      { path: 'routing.triggerOn', title: 'Go on to the next when', hint: '', control: { kind: 'triggers' } },
      {
        path: 'routing.allowModels',
        title: 'Models allowed',
        hint: '',
        control: { kind: 'names', placeholder: 'sim-small, sim-medium' },
        absent: 'all',
      },
      {
        path: 'routing.aliases',
        title: 'Names of your own',
        hint: 'A name that your programs send, and the model that is meant.',
        control: { kind: 'aliases' },
      },
      {
        path: 'routing.features',
        title: 'By feature',
        hint: 'A model or priority for calls that name a feature.',
        control: { kind: 'features' },
      },
      {
        path: 'routing.learned',
        title: 'Choose the model by what was learned',
        hint: 'For calls that leave the choice open.',
        control: { kind: 'switch', on: 'on', off: 'off' },
      },
      {
        path: 'routing.budgetDowngrade',
        title: 'Near the end of a money quota',
        hint: 'Another model is used from this share on, and the answer says so.',
        control: { kind: 'downgrade' },
        absent: 'nothing changes',
      },
      {
        path: 'routing.holdMs',
        title: 'Wait for the first words',
        hint: 'A failure within this time can still be answered by another provider.',
        control: { kind: 'number', unit: 'ms', min: 0, max: 8000 },
      },
      {
        path: 'priority',
        title: 'Priority',
        hint: 'Who goes first when calls wait for a model.',
        control: {
          kind: 'choice',
          options: [
            ['critical', 'critical'],
            ['high', 'high'],
            ['standard', 'standard'],
            ['low', 'low'],
          ],
        },
      },
      {
        path: 'unknownPrice',
        title: 'Models without a price',
        hint: 'Nothing is ever free by accident.',
        control: { kind: 'unknown-price' },
      },
    ],
  },
  {
    title: 'Time and retries',
    note: 'How long a call may take at a provider, and how often it is tried.',
    fields: [
      { path: 'deadlines.connectMs', title: 'Connect within', hint: '', control: ms(60_000) },
      { path: 'deadlines.firstByteMs', title: 'First byte within', hint: '', control: ms(600_000) },
      { path: 'deadlines.idleMs', title: 'Longest silence in a stream', hint: '', control: ms(600_000) },
      { path: 'deadlines.totalMs', title: 'Whole call within', hint: '', control: ms(3_600_000) },
      {
        path: 'retries.maxAttempts',
        title: 'Tries',
        hint: 'The first one included.',
        control: { kind: 'number', unit: 'tries', min: 1, max: 3 },
      },
      {
        path: 'retries.baseDelayMs',
        title: 'Wait before the second try',
        hint: 'Later ones wait longer.',
        control: { kind: 'number', unit: 'ms', min: 1, max: 10_000 },
      },
      {
        path: 'retries.maxDelayMs',
        title: 'Longest wait between tries',
        hint: '',
        control: { kind: 'number', unit: 'ms', min: 1, max: 60_000 },
      },
    ],
  },
  {
    title: 'Data',
    note: 'Where data may go and what is kept.',
    fields: [
      {
        path: 'dataRules.regions',
        title: 'Regions allowed',
        hint: '',
        control: { kind: 'names', placeholder: 'eu, us' },
        absent: 'everywhere',
      },
      {
        path: 'dataRules.allowedProviders',
        title: 'Providers allowed',
        hint: '',
        control: { kind: 'names', placeholder: 'primary' },
        absent: 'all',
      },
      {
        path: 'dataRules.noFallback',
        title: 'Other providers than the first',
        hint: 'For contracts that name one provider.',
        control: { kind: 'switch', on: 'are never used', off: 'may answer' },
      },
      {
        path: 'promptLogDays',
        title: 'Keep prompts',
        hint: 'Without personal data; 0 keeps none.',
        control: { kind: 'number', unit: 'days', min: 0, max: 90 },
      },
      {
        path: 'auditExport',
        title: 'Send audit records to a queue of yours',
        hint: '',
        control: { kind: 'switch', on: 'on', off: 'off' },
      },
      {
        path: 'cache.mode',
        title: 'Answer equal calls from a cache',
        hint: '',
        control: {
          kind: 'choice',
          options: [
            ['off', 'never'],
            ['exact', 'when they are exactly equal'],
          ],
        },
      },
      {
        path: 'cache.ttlSeconds',
        title: 'Keep in the cache',
        hint: '',
        control: { kind: 'number', unit: 's', min: 1, max: 30 * 86_400 },
      },
      {
        path: 'cache.maxEntryBytes',
        title: 'Largest answer kept',
        hint: '',
        control: { kind: 'number', unit: 'bytes', min: 1, max: 8 * 1024 * 1024 },
      },
      {
        path: 'cache.serveStaleOnOutage',
        title: 'Older answers when all providers fail',
        hint: '',
        control: { kind: 'switch', on: 'may be used', off: 'are not used' },
      },
      {
        path: 'maxBodyBytes',
        title: 'Largest request',
        hint: '',
        control: { kind: 'number', unit: 'bytes', min: 1024, max: 32 * 1024 * 1024 },
      },
      {
        path: 'defaultOutputTokens',
        title: 'Output expected of a call',
        hint: 'Reserved against limits when a call does not say how much it wants.',
        control: { kind: 'number', unit: 'tokens', min: 1, max: 1_000_000 },
      },
    ],
  },
];

export const FIELDS: ReadonlyMap<string, PolicyField> = new Map(
  FIELD_GROUPS.flatMap((group) => group.fields.map((field) => [field.path, field])),
);
export const FIELD_PATHS: readonly string[] = [...FIELDS.keys()];
