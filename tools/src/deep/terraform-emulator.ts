import { buildApp } from 'fauxqs';

/**
 * Topic attributes that the AWS provider sets and the emulator refuses: they steer delivery to other protocols than
 * SQS.
 */
const UNKNOWN_TO_EMULATOR = /FeedbackSampleRate$|FeedbackRoleArn$|^ArchivePolicy$|^FifoThroughputScope$/;

const OK =
  '<SetTopicAttributesResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ResponseMetadata><RequestId>0</RequestId></ResponseMetadata></SetTopicAttributesResponse>';
const ENTRIES_END = '</Attributes></GetTopicAttributesResult>';

/**
 * The emulator with what the AWS provider for Terraform needs beyond it: some topic attributes are taken and
 * forgotten, a topic always shows a policy.
 */
export function buildTerraformEmulator(region: string): ReturnType<typeof buildApp> {
  const app = buildApp({ logger: false, defaultRegion: region });
  app.addHook('preHandler', async (request, reply) => {
    const body = request.body as { Action?: string; AttributeName?: string } | undefined;
    if (body?.Action !== 'SetTopicAttributes' || !UNKNOWN_TO_EMULATOR.test(body.AttributeName ?? '')) return undefined;
    return reply.header('content-type', 'text/xml').send(OK);
  });
  app.addHook('onSend', async (request, _reply, payload) => {
    const body = request.body as { Action?: string; TopicArn?: string } | undefined;
    if (body?.Action !== 'GetTopicAttributes' || typeof payload !== 'string' || payload.includes('<key>Policy</key>'))
      return payload;
    const policy = JSON.stringify({ Version: '2008-10-17', Id: '__default_policy_ID', Statement: [] }).replaceAll(
      '"',
      '&quot;',
    );
    return payload.replace(ENTRIES_END, `<entry><key>Policy</key><value>${policy}</value></entry>${ENTRIES_END}`);
  });
  return app;
}
