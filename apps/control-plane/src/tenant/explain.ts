import { ERROR_CATALOGUE, type ErrorCode, type Explanation, type Outcome } from '@sluice/contracts';

/** The limit that refused. */
export interface RefusingLimit {
  readonly level: string | null;
  readonly name: string;
}

const WHOSE: Readonly<Record<string, string>> = {
  tenant: 'of your company, which spans its workspaces',
  workspace: 'of this workspace',
  key: 'of the API key',
};

/**
 * Why a call ended as it did and what helps, for people; null for one that ended well. Nothing of another customer
 * is in it.
 */
export function explain(
  outcome: Outcome,
  errorCode: string | null,
  limit: RefusingLimit | null = null,
): Explanation | null {
  const named =
    limit === null || limit.name === outcome
      ? ''
      : ` The limit is "${limit.name}"${limit.level === null ? '' : ` ${WHOSE[limit.level] ?? ''}`}.`.replace(
          ' .',
          '.',
        );
  const why = (text: string): string => `${publicText(errorCode) ?? text}${named}`;
  switch (outcome) {
    case 'ok':
      return null;
    case 'throttled':
      return {
        why: why('More requests or tokens came in a short time than the rate limit allows.'),
        what_to_do:
          'Wait as long as the answer’s retry-after header says and spread the calls. If this is your normal load, ask for a higher rate or move bulk work to another key with a limit of its own.',
      };
    case 'shed':
      return {
        why: why('Too many requests were in progress at the same time.'),
        what_to_do:
          'Send again after the retry-after header. Fewer calls at once, or shorter answers, leave more room; the limit bounds how many are in flight, not how many come.',
      };
    case 'quota':
      return {
        why: why('The quota of this period is used up.'),
        what_to_do:
          'Wait for the period to end (see Overview), raise the overage cap under Billing if the cap is what stopped you, or ask for a larger plan.',
      };
    case 'unauthenticated':
      return {
        why: why('No valid API key came with the request.'),
        what_to_do: 'Check that the key is complete, not revoked and not expired; make a new one under API keys.',
      };
    case 'client_error':
      return {
        why: why('The request itself was refused.'),
        what_to_do:
          'Read the message of the answer, which names the field, and change the request; sending the same again will fail again.',
      };
    case 'cancelled':
      return {
        why: why('The caller closed the connection, or its deadline passed.'),
        what_to_do: 'If that was not meant, raise the timeout of your client. What was produced until then is billed.',
      };
    case 'interrupted':
      return { why: why('The gateway was stopped in the middle of the call.'), what_to_do: 'Send it again.' };
    case 'upstream_error':
      return {
        why: why('The model provider failed, and no other could answer.'),
        what_to_do: 'Send it again. A longer provider chain in the policy makes this rarer.',
      };
    case 'timeout':
      return {
        why: why('The model provider did not answer within the deadline.'),
        what_to_do: 'Send it again, ask for a shorter answer, or raise the deadlines in the policy.',
      };
    case 'internal_error':
      return {
        why: why('The gateway failed.'),
        what_to_do: 'Send it again; if it keeps failing, give the request id to your contact.',
      };
  }
}

function publicText(code: string | null): string | undefined {
  return code !== null && Object.hasOwn(ERROR_CATALOGUE, code)
    ? ERROR_CATALOGUE[code as ErrorCode].publicText
    : undefined;
}
