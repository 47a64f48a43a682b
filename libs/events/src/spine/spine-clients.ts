import { SNSClient } from '@aws-sdk/client-sns';
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { LOCAL_ACCOUNT, type SpinePlace } from '@sluice/contracts';

export interface SpineClientOptions {
  /** Of an emulator; absent for AWS itself. */
  readonly endpoint?: string;
  readonly region: string;
  readonly account?: string;
  /** Absent takes the SDK's default chain. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface SpineClients {
  readonly sns: SNSClient;
  readonly sqs: SQSClient;
  readonly place: SpinePlace;
  /** URL of a queue by name, asked once; forgets a failure. @throws when the queue does not exist or SQS is down. */
  queueUrl(name: string): Promise<string>;
  close(): void;
}

/** Clients of one deployment. Queue URLs only name a queue; requests go to `endpoint`, whatever host the URL shows. */
export function createSpineClients(options: SpineClientOptions): SpineClients {
  const shared = {
    region: options.region,
    maxAttempts: 2,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
  };
  const sns = new SNSClient(shared);
  const sqs = new SQSClient({ ...shared, useQueueUrlAsEndpoint: false });
  const urls = new Map<string, Promise<string>>();
  return {
    sns,
    sqs,
    place: { region: options.region, account: options.account ?? LOCAL_ACCOUNT },
    queueUrl: (name) => {
      const known = urls.get(name);
      if (known !== undefined) return known;
      const asked = sqs.send(new GetQueueUrlCommand({ QueueName: name })).then((answer) => answer.QueueUrl as string);
      urls.set(name, asked);
      asked.catch(() => urls.delete(name));
      return asked;
    },
    close: () => {
      sns.destroy();
      sqs.destroy();
    },
  };
}
