import { join } from 'node:path';
import { declareTopology, LOCAL_ACCOUNT, LOCAL_REGION, TOPOLOGY } from '@sluice/contracts';
import { writeSpine } from './synth-spine.ts';

/**
 * Writes the Terraform JSON of the spine to `cdktf.out`, or to the folder that is given, and prints where
 * `terraform` runs. Region, account and an emulator's endpoint come from the environment. With an emulator it is
 * the demo's whole topology; for AWS it leaves the export queues out, because the control plane makes and removes
 * those, and Terraform would undo what it does.
 */
const { AWS_ENDPOINT_URL: endpoint, AWS_ACCOUNT_ID: account, AWS_REGION: region = LOCAL_REGION } = process.env;
if (endpoint === undefined && account === undefined)
  throw new Error(
    'Set AWS_ACCOUNT_ID: policies name queues and topics by account. (Or AWS_ENDPOINT_URL, for an emulator.)',
  );
const folder = writeSpine(process.argv[2] ?? join(import.meta.dirname, '..', 'cdktf.out'), {
  topology: endpoint === undefined ? declareTopology([]) : TOPOLOGY,
  place: { region, account: account ?? LOCAL_ACCOUNT },
  ...(endpoint === undefined ? {} : { endpoint }),
});
console.log(folder);
