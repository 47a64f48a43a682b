import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface TerraformCli {
  /**
   * Runs in the folder.
   * @returns the exit code (0, or 2 for a plan with changes) and what it printed.
   * @throws when it failed, with its last lines.
   */
  run(args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }>;
}

export interface FoundTerraform {
  readonly bin: string;
  readonly pluginDir: string;
  readonly version: string;
}

/** The Terraform (or OpenTofu) of this machine with the AWS provider on disk, or in words what is missing. */
export function findTerraform(env: NodeJS.ProcessEnv): FoundTerraform | string {
  const bin = env['TF_BIN'] ?? 'terraform';
  const asked = spawnSync(bin, ['version', '-json'], { encoding: 'utf8', env: { ...env, CHECKPOINT_DISABLE: '1' } });
  if (asked.status !== 0) return `there is no '${bin}' on the PATH; install Terraform, or set TF_BIN=tofu`;
  const pluginDir = env['TF_PLUGIN_DIR'];
  if (pluginDir === undefined)
    return 'TF_PLUGIN_DIR is not set: the folder that holds registry.terraform.io/hashicorp/aws';
  const hosts = ['registry.terraform.io', 'registry.opentofu.org'].filter((host) =>
    existsSync(join(pluginDir, host, 'hashicorp', 'aws')),
  );
  if (hosts.length === 0) return `TF_PLUGIN_DIR (${pluginDir}) holds no provider hashicorp/aws`;
  return { bin, pluginDir, version: (JSON.parse(asked.stdout) as { terraform_version: string }).terraform_version };
}

/** A Terraform that works in `folder`, takes nothing of the user's AWS settings and asks nobody for newer versions. */
export function createTerraformCli({ bin }: FoundTerraform, folder: string, env: NodeJS.ProcessEnv): TerraformCli {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(AWS_|TF_)/.test(name)));
  return {
    run: (args) =>
      new Promise((resolve, reject) => {
        const options = {
          cwd: folder,
          env: { ...own, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1', AWS_EC2_METADATA_DISABLED: 'true' },
          maxBuffer: 64 * 1024 * 1024,
        };
        const child = execFile(bin, [...args], options, (error, stdout, stderr) => {
          const code = child.exitCode ?? 1;
          if (error === null || (code === 2 && args.includes('-detailed-exitcode'))) resolve({ code, stdout });
          else
            reject(
              new Error(`${bin} ${args[0]} failed: ${`${stdout}\n${stderr}`.trim().split('\n').slice(-30).join('\n')}`),
            );
        });
      }),
  };
}
