import { createContext, useContext } from 'react';
import type { Session } from '../api/operator-api.ts';

const RANK = { viewer: 0, operator: 1, admin: 2 } as const satisfies Record<Session['role'], number>;

export const SessionContext = createContext<Session>({ user: '', role: 'viewer' });

/** Why the signed-in person may not do something, or undefined. The control plane decides again. */
export function useRefusal(needs: 'operator' | 'admin'): string | undefined {
  const { role } = useContext(SessionContext);
  return RANK[role] >= RANK[needs] ? undefined : `Your role is ${role}; this needs ${needs}.`;
}
