import { useContext } from 'react';
import type { OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import { SessionContext } from '../session/role.tsx';
import { Invitations } from './invitations.tsx';
import { Operators } from './operators.tsx';
import { Persons } from './persons.tsx';

/** Who may sign in: operators here, and the customers' people in their console, with who is invited there. */
export function PeoplePage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const { role } = useContext(SessionContext);
  return (
    <>
      {role === 'admin' ? (
        <Operators api={api} />
      ) : (
        <section className="panel" aria-labelledby="operators">
          <h2 id="operators">Operators</h2>
          <p className="muted">Accounts of operators are shown to admins only. Your role is {role}.</p>
        </section>
      )}
      <Persons api={api} picture={picture} />
      <Invitations api={api} />
    </>
  );
}
