import { request } from 'undici';
import { z } from 'zod';
import type { StackFile } from '@sluice/contracts';
import { StackError } from '../stack/running-stack.ts';

/** JSON of another service. @throws StackError when it does not answer with 200. */
export async function getJson(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await request(url, { headers }).catch((error: Error) => {
    throw new StackError(`${url} does not answer: ${error.message}`);
  });
  const text = await response.body.text();
  if (response.statusCode !== 200)
    throw new StackError(`${url} answered ${response.statusCode}: ${text.slice(0, 200)}`);
  return JSON.parse(text) as unknown;
}

export interface OperatorApi {
  get(path: string): Promise<unknown>;
}

/** The operator API, signed in with the stack's demo operator. */
export async function signInAsOperator(stack: StackFile): Promise<OperatorApi> {
  const base = stack.services['control-plane'].url;
  const response = await request(`${base}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: stack.operator.user, password: stack.operator.password, bearer: true }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200)
    throw new StackError(`The control plane refused the demo operator: ${response.statusCode} ${text.slice(0, 200)}`);
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(text));
  return { get: (path) => getJson(`${base}${path}`, { authorization: `Bearer ${token}` }) };
}
