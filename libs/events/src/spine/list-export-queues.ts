import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { tenantOfExportQueue } from '@sluice/contracts';
import type { SpineClients } from './spine-clients.ts';

/** Tenants whose export queue exists, subscribed or not, sorted. @throws when SQS cannot be reached. */
export async function listExportQueues({ sqs }: SpineClients): Promise<string[]> {
  const tenants: string[] = [];
  let NextToken: string | undefined;
  do {
    const page = await sqs.send(new ListQueuesCommand({ MaxResults: 1000, ...(NextToken === undefined ? {} : { NextToken }) }));
    for (const url of page.QueueUrls ?? []) {
      const tenant = tenantOfExportQueue(url.slice(url.lastIndexOf('/') + 1));
      if (tenant !== undefined) tenants.push(tenant);
    }
    NextToken = page.NextToken;
  } while (NextToken !== undefined && NextToken !== '');
  return tenants.toSorted();
}
