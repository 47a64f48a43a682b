import { request } from 'undici';
import { z } from 'zod';
import { DeadLetterView, DlqState, OperatorState, RedriveAnswer, type StackFile } from '@sluice/contracts';
import { StackError } from '../stack/running-stack.ts';

const AuditLine = z.object({ event_id: z.string(), type: z.string(), target: z.object({ id: z.string() }) });
const AuditPage = z.object({ rows: z.array(AuditLine), next_cursor: z.string().nullable() });

/**
 * The operator API as chaos tests use it. Signs in again when a session is gone, and waits out a control plane that
 * starts.
 */
export interface Operator {
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<unknown>;
  state(): Promise<OperatorState>;
  dlqDepth(queue: string): Promise<number>;
  deadLetters(queue: string): Promise<DeadLetterView[]>;
  redrive(queue: string): Promise<RedriveAnswer>;
  /** Audit records of an action since an instant, all pages. */
  audit(action: string, from: string): Promise<z.infer<typeof AuditLine>[]>;
}

export function createOperator(stack: StackFile): Operator {
  const base = stack.services['control-plane'].url;
  let token: string | undefined;

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }> {
    const response = await request(`${base}${path}`, {
      method: method as 'GET',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: Error) => {
      throw new StackError(`${method} ${path} was not answered: ${error.message}`);
    });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async function signIn(): Promise<void> {
    token = undefined;
    const { status, text } = await send('POST', '/api/session', {
      user: stack.operator.user,
      password: stack.operator.password,
      bearer: true,
    });
    if (status !== 200)
      throw new StackError(`The control plane refused the demo operator: ${status} ${text.slice(0, 200)}`);
    token = z.object({ token: z.string() }).parse(JSON.parse(text)).token;
  }

  const call: Operator['call'] = async (method, path, body, headers) => {
    if (token === undefined) await signIn();
    let answer = await send(method, path, body, headers);
    if (answer.status === 401) {
      await signIn();
      answer = await send(method, path, body, headers);
    }
    if (answer.status >= 300)
      throw new StackError(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer.text === '' ? undefined : (JSON.parse(answer.text) as unknown);
  };

  return {
    call,
    state: async () => OperatorState.parse(await call('GET', '/api/state')),
    dlqDepth: async (queue) =>
      DlqState.array()
        .parse(await call('GET', '/api/dlqs'))
        .find((state) => state.queue === queue)?.depth ?? 0,
    deadLetters: async (queue) =>
      z.object({ messages: z.array(DeadLetterView) }).parse(await call('GET', `/api/dlqs/${queue}/messages?limit=100`))
        .messages,
    redrive: async (queue) => RedriveAnswer.parse(await call('POST', `/api/dlqs/${queue}/redrive`)),
    audit: async (action, from) => {
      const rows: z.infer<typeof AuditLine>[] = [];
      let cursor: string | null = null;
      do {
        const page: z.infer<typeof AuditPage> = AuditPage.parse(
          await call(
            'GET',
            `/api/audit?${new URLSearchParams({ action, from, limit: '200', ...(cursor !== null && { cursor }) })}`,
          ),
        );
        rows.push(...page.rows);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return rows;
    },
  };
}
