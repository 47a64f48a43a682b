import type { AuditInput } from '../config/config-repository.ts';
import type { OperatorAccountStore, PersonAccountStore } from './account-store.ts';

interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** Accounts without a database, for tests. */
export function createMemoryAccounts(audited: AuditInput[]): {
  operators: OperatorAccountStore;
  people: PersonAccountStore & { hashOf(email: string): string | undefined };
} {
  const operators = new Map<
    string,
    {
      id: string;
      role: 'viewer' | 'operator' | 'admin';
      enabled: boolean;
      version: number;
      createdAt: string;
      passwordHash: string;
    }
  >();
  const people = new Map<
    string,
    {
      id: string;
      email: string;
      roles: Readonly<Record<string, 'viewer' | 'developer' | 'finance' | 'admin'>>;
      version: number;
      passwordHash: string;
    }
  >();

  function after<T extends Versioned>(rows: Map<string, T>, id: string | undefined, limit: number): T[] {
    return [...rows.values()]
      .filter((row) => id === undefined || row.id > id)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }
  const isAt = (row: Versioned | undefined, version: number): boolean => row?.version === version;
  const byEmail = (email: string) => [...people.values()].find((row) => row.email === email.toLowerCase());

  return {
    operators: {
      list: async ({ after: id, limit }) => after(operators, id, limit),
      find: async (id) => operators.get(id),
      insert: async (account, audit) => {
        if (operators.has(account.id)) return false;
        operators.set(account.id, { ...account, enabled: true, version: 1, createdAt: '2026-01-01T00:00:00.000Z' });
        audited.push(audit);
        return true;
      },
      update: async ({ id, role, enabled, passwordHash }, ifVersion, audit) => {
        const row = operators.get(id);
        if (row === undefined || !isAt(row, ifVersion)) return undefined;
        operators.set(id, {
          ...row,
          role,
          enabled,
          passwordHash: passwordHash ?? row.passwordHash,
          version: row.version + 1,
        });
        audited.push(audit);
        return row.version + 1;
      },
      remove: async (id, ifVersion, audit) => {
        if (!isAt(operators.get(id), ifVersion)) return false;
        audited.push(audit);
        return operators.delete(id);
      },
    },
    people: {
      hashOf: (email) => byEmail(email)?.passwordHash,
      list: async ({ after: id, limit, workspace, q }) =>
        after(people, id, people.size)
          .filter(
            ({ roles, email }) =>
              (workspace === undefined || Object.hasOwn(roles, workspace)) &&
              (q === undefined || email.includes(q.toLowerCase())),
          )
          .slice(0, limit),
      find: async (id) => people.get(id),
      findByEmail: async (email) => byEmail(email),
      insert: async (account, audit) => {
        if (byEmail(account.email) !== undefined) return false;
        people.set(account.id, { ...account, email: account.email.toLowerCase(), version: 1 });
        audited.push(audit);
        return true;
      },
      update: async ({ id, roles, passwordHash }, ifVersion, audit) => {
        const row = people.get(id);
        if (row === undefined || !isAt(row, ifVersion)) return undefined;
        people.set(id, { ...row, roles, passwordHash: passwordHash ?? row.passwordHash, version: row.version + 1 });
        audited.push(audit);
        return row.version + 1;
      },
      remove: async (id, ifVersion, audit) => {
        if (!isAt(people.get(id), ifVersion)) return false;
        audited.push(audit);
        return people.delete(id);
      },
    },
  };
}
