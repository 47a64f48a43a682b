import type { OperatorRole, Role } from '@sluice/contracts';
import type { AuditInput } from '../config/config-repository.ts';

/** An operator with an account in the database. The one of the environment has none. */
export interface OperatorAccount {
  readonly id: string;
  readonly role: OperatorRole;
  readonly enabled: boolean;
  readonly version: number;
  readonly createdAt: string;
}

/** A person who may use the tenant console. */
export interface PersonAccount {
  readonly id: string;
  readonly email: string;
  /** Workspace slug → role. */
  readonly roles: Readonly<Record<string, Role>>;
  readonly version: number;
}

/** Of a list: rows after an id, one more than asked tells that there are more. */
export interface AccountPage {
  readonly after: string | undefined;
  readonly limit: number;
}

/** What changes; a hash that is absent stays. Each change is written together with its audit record. */
export interface OperatorAccountStore {
  list(page: AccountPage): Promise<OperatorAccount[]>;
  find(id: string): Promise<(OperatorAccount & { readonly passwordHash: string }) | undefined>;
  /** False when there is one of that name already. */
  insert(account: { id: string; role: OperatorRole; passwordHash: string }, audit: AuditInput): Promise<boolean>;
  /** The new version; undefined when the account is not at `ifVersion` any more. */
  update(
    account: { id: string; role: OperatorRole; enabled: boolean; passwordHash?: string | undefined },
    ifVersion: number,
    audit: AuditInput,
  ): Promise<number | undefined>;
  /** False when the account is not at `ifVersion` any more. */
  remove(id: string, ifVersion: number, audit: AuditInput): Promise<boolean>;
}

export interface PersonAccountStore {
  list(
    page: AccountPage & { readonly workspace?: string | undefined; readonly q?: string | undefined },
  ): Promise<PersonAccount[]>;
  find(id: string): Promise<PersonAccount | undefined>;
  findByEmail(email: string): Promise<PersonAccount | undefined>;
  insert(
    account: { id: string; email: string; roles: Readonly<Record<string, Role>>; passwordHash: string },
    audit: AuditInput,
  ): Promise<boolean>;
  update(
    account: { id: string; roles: Readonly<Record<string, Role>>; passwordHash?: string | undefined },
    ifVersion: number,
    audit: AuditInput,
  ): Promise<number | undefined>;
  remove(id: string, ifVersion: number, audit: AuditInput): Promise<boolean>;
}
