import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOCAL_ACCOUNT, LOCAL_REGION, TOPOLOGY, type Topology } from '@sluice/contracts';
import { compareTopology, createSpineClients, describeDeployed, type SpineClients } from '@sluice/events';
import { apiNameOfQueueAttribute } from './attributes-of-json.ts';
import type { DeepCheck } from './deep-check.ts';
import { synthesiseSpine } from './synthesise-spine.ts';
import { createTerraformCli, findTerraform, type TerraformCli } from './terraform-cli.ts';
import { buildTerraformEmulator } from './terraform-emulator.ts';
import { readPlan, type PlannedChange } from './terraform-plan.ts';

/** The provider waits about 25 s for each queue, so all at once. */
const TOGETHER = '-parallelism=30';

/**
 * The synthesised stack with the real AWS provider against an emulator: the one in this repository, or any at
 * `TF_ENDPOINT_URL` (its account in `AWS_ACCOUNT_ID`; queue attributes that it does not keep in `TF_OMIT`, as
 * Terraform calls them, or the provider waits for them for ever).
 */
export const terraformCheck: DeepCheck = {
  name: 'Terraform applies the synthesised spine, plans nothing afterwards, shows one changed attribute as one, and destroys all of it',
  run: async (settings) => {
    const found = findTerraform(settings.env);
    if (typeof found === 'string') return { skipped: found };
    const outside = settings.env['TF_ENDPOINT_URL'];
    const app = outside === undefined ? buildTerraformEmulator(LOCAL_REGION) : undefined;
    const endpoint = outside ?? (await app?.listen({ host: '127.0.0.1', port: 0 })) ?? '';
    const account = outside === undefined ? LOCAL_ACCOUNT : (settings.env['AWS_ACCOUNT_ID'] ?? LOCAL_ACCOUNT);
    const outdir = mkdtempSync(join(tmpdir(), 'sluice-terraform-'));
    const spine = createSpineClients({
      endpoint,
      region: LOCAL_REGION,
      account,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    try {
      const folder = await synthesiseSpine(settings.root, outdir, endpoint, { region: LOCAL_REGION, account });
      const omitted = (settings.env['TF_OMIT'] ?? '').split(',').filter((name) => name !== '');
      editQueues(folder, (queue) => omitted.forEach((name) => delete queue[name]));
      const terraform = createTerraformCli(found, folder, settings.env);
      return `Terraform ${found.version} at ${outside === undefined ? 'the emulator of `make up`' : outside}: ${await lifeOfSpine(terraform, folder, found.pluginDir, spine, omitted)}`;
    } finally {
      spine.close();
      await app?.close();
      rmSync(outdir, { recursive: true, force: true });
    }
  },
};

async function lifeOfSpine(
  terraform: TerraformCli,
  folder: string,
  pluginDir: string,
  spine: SpineClients,
  omitted: readonly string[],
): Promise<string> {
  const ignored = omitted.map(apiNameOfQueueAttribute);
  const figures: string[] = [];
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    figures.push(`${what} ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return result;
  };
  const plan = async (): Promise<ReturnType<typeof readPlan>> => {
    await terraform.run(['plan', '-detailed-exitcode', '-input=false', '-no-color', TOGETHER, '-out=spine.plan']);
    return readPlan((await terraform.run(['show', '-json', 'spine.plan'])).stdout);
  };
  await timed('init', () => terraform.run(['init', '-input=false', '-no-color', `-plugin-dir=${pluginDir}`]));
  await timed('apply', () => terraform.run(['apply', TOGETHER, '-auto-approve', '-input=false', '-no-color']));
  expectNone(
    'what Terraform has applied is not as declared',
    compareTopology(TOPOLOGY, await describeDeployed(TOPOLOGY, spine)).filter(
      (fault) => !ignored.some((name) => fault.includes(`: ${name} is not set`)),
    ),
  );
  if (omitted.length > 0) figures.push(`without ${omitted.join(', ')}, which the endpoint does not keep`);

  const second = await timed('second plan', plan);
  expectNone('the second plan is not empty', second.changes.map(sentence));
  if (second.rewritten > 0) figures.push(`${second.rewritten} resources only re-serialised`);

  const third = await timed('plan of one changed maxReceiveCount', async () => {
    changeReceives(folder, 'metering', TOPOLOGY);
    return plan();
  });
  const [only, ...others] = third.changes;
  const expected = /^redrive_policy: (.*)"maxReceiveCount":"3"(.*) → \1"maxReceiveCount":"5"\2$/;
  if (
    only?.address !== 'aws_sqs_queue.queue_metering' ||
    only.actions !== 'update' ||
    others.length > 0 ||
    only.attributes.length !== 1 ||
    !expected.test(only.attributes[0] ?? '')
  ) {
    throw new Error(
      `a changed maxReceiveCount of metering is planned as: ${third.changes.map(sentence).join('; ') || 'nothing'}`,
    );
  }
  await timed('destroy', () => terraform.run(['destroy', TOGETHER, '-auto-approve', '-input=false', '-no-color']));
  const left = await describeDeployed(TOPOLOGY, spine);
  expectNone('destroy left', [
    ...Object.keys(left.topics),
    ...Object.keys(left.queues),
    ...left.subscriptions.map(({ queue }) => `a subscription of ${queue}`),
  ]);
  return `${figures.join(', ')}; ${TOPOLOGY.topics.length} topics, ${TOPOLOGY.queues.length} queues with DLQs; second plan empty; the changed attribute planned alone; nothing left`;
}

const sentence = ({ address, actions, attributes }: PlannedChange): string =>
  `${address} ${actions} (${attributes.join(', ')})`;

function expectNone(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${what}: ${faults.join('; ')}`);
}

/** Makes `maxReceiveCount` of one queue 5 in the synthesised JSON. */
function changeReceives(folder: string, name: string, { queues }: Topology): void {
  const declared = queues.find((queue) => queue.name === name);
  editQueues(folder, (queue) => {
    if (queue['name'] === name)
      queue['redrive_policy'] = String(queue['redrive_policy']).replace(
        `"maxReceiveCount":${declared?.maxReceiveCount}`,
        '"maxReceiveCount":5',
      );
  });
}

function editQueues(folder: string, edit: (queue: Record<string, unknown>) => void): void {
  const path = join(folder, 'cdk.tf.json');
  const stack = JSON.parse(readFileSync(path, 'utf8')) as {
    resource: { aws_sqs_queue: Record<string, Record<string, unknown>> };
  };
  Object.values(stack.resource.aws_sqs_queue).forEach(edit);
  writeFileSync(path, JSON.stringify(stack));
}
