import type { Permission } from '@sluice/contracts';
import { Link } from '../routing/link.tsx';
import { PERMISSION_WORDS, rolesWith } from './permission-words.ts';
import { PageHead } from '../parts/page.tsx';

/** A page of the workspace that the person's role does not include. */
export function NotYourRole({ title, permission, role }: { title: string; permission: Permission; role: string }) {
  return (
    <>
      <PageHead title={title} />
      <div className="notice warn">
        <p>
          <strong>Your role in this workspace does not include this page.</strong>
        </p>
        <p>
          It needs the permission <code>{permission}</code>, which lets you {PERMISSION_WORDS[permission].lets}. You are{' '}
          {role} here; the role {rolesWith(permission)} has it. An admin of this workspace can change your role under
          Members.
        </p>
      </div>
    </>
  );
}

/** A workspace in which the person has no role, or that does not exist: nobody is told which. */
export function NoSuchPlace({ what, home }: { what: 'workspace' | 'page'; home: string | undefined }) {
  return (
    <>
      <PageHead title="Not found" />
      <div className="notice">
        <p>
          {what === 'workspace'
            ? 'There is no workspace of this name that you belong to.'
            : 'There is no page at this address.'}
        </p>
        {home !== undefined && (
          <p>
            <Link to={home}>Go to the overview</Link>
          </p>
        )}
      </div>
    </>
  );
}
