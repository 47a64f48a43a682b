import { App, Testing } from 'cdktf';
import { join } from 'node:path';
import { SpineStack, type SpineStackOptions } from './spine-stack.ts';

/** Terraform JSON of the spine, as text. */
export function synthSpine(options: SpineStackOptions): string {
  return Testing.synth(new SpineStack(Testing.app(), 'spine', options));
}

/** Writes the Terraform JSON of the spine below `outdir`. @returns the folder to run `terraform` in. */
export function writeSpine(outdir: string, options: SpineStackOptions): string {
  const app = new App({ outdir });
  new SpineStack(app, 'spine', options);
  app.synth();
  return join(outdir, 'stacks', 'spine');
}
