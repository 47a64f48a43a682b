import { SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { placeOfArn, type SpinePlace } from '@sluice/contracts';

export interface SpineClientOptions {
  /** Of an emulator; absent for AWS itself. */
  readonly endpoint?: string;
  readonly region: string;
  /** AWS account id, 12 digits (`AWS_ACCOUNT_ID`). Absent, SQS is asked for the ARN of the queue `metering`, once. */
  readonly account?: string;
  /** Absent takes the SDK's default chain. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface SpineClients {
  readonly sns: SNSClient;
  readonly sqs: SQSClient;
  /** What ARNs are made of; forgets a failure. @throws when the account is not given and SQS does not tell it. */
  place(): Promise<SpinePlace>;
  /** URL of a queue by name, asked once; forgets a failure. @throws when the queue does not exist or SQS is down. */
  queueUrl(name: string): Promise<string>;
  /** Asks anew for a queue's URL the next time: it was removed. */
  forgetQueue(name: string): void;
  close(): void;
}

/** A declared queue that every deployment has. */
const WITNESS_QUEUE = 'metering';

/** Whether SQS says that there is no such queue; its name for that differs between protocols and emulators. */
export const isNoSuchQueue = (error: unknown): boolean =>
  error instanceof Error && /NonExistentQueue|QueueDoesNotExist/.test(error.name);

/** @throws TypeError for an account that is not 12 digits: ARNs made of it would name nothing. */
function checkAccount(account: string): string {
  if (!/^\d{12}$/.test(account)) throw new TypeError(`AWS_ACCOUNT_ID is '${account}', it must be 12 digits`);
  return account;
}

/** Clients of one deployment. Queue URLs only name a queue; requests go to `endpoint`, whatever host the URL shows. */
export function createSpineClients(options: SpineClientOptions): SpineClients {
  const { region } = options;
  const account = options.account === undefined ? undefined : checkAccount(options.account);
  const shared = {
    region,
    maxAttempts: 2,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
  };
  const sns = new SNSClient(shared);
  const sqs = new SQSClient({ ...shared, useQueueUrlAsEndpoint: false });
  const urls = new Map<string, Promise<string>>();
  let place: Promise<SpinePlace> | undefined = account === undefined ? undefined : Promise.resolve({ region, account });

  const queueUrl = (name: string): Promise<string> => {
    const known = urls.get(name);
    if (known !== undefined) return known;
    const asked = sqs.send(new GetQueueUrlCommand({ QueueName: name })).then((answer) => answer.QueueUrl as string);
    urls.set(name, asked);
    asked.catch(() => urls.delete(name));
    return asked;
  };

  const askPlace = async (): Promise<SpinePlace> => {
    const answer = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: await queueUrl(WITNESS_QUEUE), AttributeNames: ['QueueArn'] }),
    );
    const told = placeOfArn(answer.Attributes?.QueueArn ?? '');
    if (told === undefined)
      throw new Error(
        `SQS does not tell the account: the ARN of the queue ${WITNESS_QUEUE} is '${answer.Attributes?.QueueArn ?? ''}'. Set AWS_ACCOUNT_ID.`,
      );
    return { region, account: told.account };
  };

  return {
    sns,
    sqs,
    place: () => {
      if (place !== undefined) return place;
      const asked = askPlace();
      place = asked;
      asked.catch(() => {
        if (place === asked) place = undefined;
      });
      return asked;
    },
    queueUrl,
    forgetQueue: (name) => urls.delete(name),
    close: () => {
      sns.destroy();
      sqs.destroy();
    },
  };
}
