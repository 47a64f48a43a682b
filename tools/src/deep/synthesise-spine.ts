import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Runs `infra/src/synth.ts` as a user would, for an emulator at `endpoint`.
 *
 * @returns the folder with `cdk.tf.json`, in which `terraform` runs.
 * @throws when the synthesis fails, with what it wrote.
 */
export async function synthesiseSpine(
  root: string,
  outdir: string,
  endpoint: string,
  place: { readonly region: string; readonly account: string },
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@sluice/source', '--disable-warning=ExperimentalWarning', join(root, 'infra/src/synth.ts'), outdir],
    {
      cwd: root,
      env: { ...process.env, AWS_ENDPOINT_URL: endpoint, AWS_REGION: place.region, AWS_ACCOUNT_ID: place.account },
    },
  );
  return stdout.trim();
}
