import type { InvitationView, OperatorRole, Role } from '@sluice/contracts';
import type { Call } from './call.ts';
import type { Page, Row } from './table-api.ts';

export type OperatorRow = Row<{ readonly role: OperatorRole; readonly enabled: boolean; readonly createdAt: string }>;
export type PersonRow = Row<{ readonly email: string; readonly roles: Readonly<Record<string, Role>> }>;

/** Accounts: of operators, and of the customers' people with their open invitations. */
export interface PeopleApi {
  operators(): Promise<readonly OperatorRow[]>;
  addOperator(account: { name: string; role: OperatorRole; password: string }): Promise<void>;
  changeOperator(name: string, change: unknown, version: number): Promise<void>;
  removeOperator(name: string, version: number): Promise<void>;
  /** People whose address holds a text, page by page. */
  people(query: { q: string; workspace: string; cursor: string }): Promise<Page<PersonRow>>;
  person(id: string): Promise<PersonRow>;
  /** @param person `{ email, password, roles }`. */
  addPerson(person: unknown): Promise<void>;
  changePerson(id: string, change: unknown, version: number): Promise<void>;
  removePerson(id: string, version: number): Promise<void>;
  invitations(): Promise<Page<InvitationView>>;
  takeBack(invitation: string): Promise<void>;
}

/** @param call as the whole console calls the control plane. */
export function createPeopleApi(call: Call): PeopleApi {
  const read = async <T>(path: string): Promise<T> => (await (await call('GET', path)).json()) as T;
  const operator = (name: string): string => `/api/operators/${encodeURIComponent(name)}`;
  const user = (id: string): string => `/api/users/${encodeURIComponent(id)}`;
  const at = (version: number): Record<string, string> => ({ 'if-match': `"${version}"` });
  return {
    operators: async () => (await read<Page<OperatorRow>>('/api/operators?limit=1000')).rows,
    addOperator: async (account) => void (await call('POST', '/api/operators', account)),
    changeOperator: async (name, change, version) => void (await call('PUT', operator(name), change, at(version))),
    removeOperator: async (name, version) => void (await call('DELETE', operator(name), undefined, at(version))),
    people: (query) =>
      read(
        `/api/users?${new URLSearchParams([['limit', '50'], ...Object.entries(query).filter(([, value]) => value !== '')])}`,
      ),
    person: (id) => read(user(id)),
    addPerson: async (person) => void (await call('POST', '/api/users', person)),
    changePerson: async (id, change, version) => void (await call('PUT', user(id), change, at(version))),
    removePerson: async (id, version) => void (await call('DELETE', user(id), undefined, at(version))),
    invitations: () => read('/api/invitations?limit=200'),
    takeBack: async (invitation) => void (await call('DELETE', `/api/invitations/${encodeURIComponent(invitation)}`)),
  };
}
