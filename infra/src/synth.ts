import { join } from 'node:path';
import { LOCAL_ACCOUNT, LOCAL_REGION, TOPOLOGY } from '@sluice/contracts';
import { App } from 'cdktf';
import { SpineStack } from './spine-stack.ts';

/** Writes the Terraform JSON of the spine to `cdktf.out`. Region, account and an emulator's endpoint come from the environment. */
const endpoint = process.env['AWS_ENDPOINT_URL'];
const app = new App({ outdir: join(import.meta.dirname, '..', 'cdktf.out') });
new SpineStack(app, 'spine', {
  topology: TOPOLOGY,
  place: { region: process.env['AWS_REGION'] ?? LOCAL_REGION, account: process.env['AWS_ACCOUNT_ID'] ?? LOCAL_ACCOUNT },
  ...(endpoint === undefined ? {} : { endpoint }),
});
app.synth();
