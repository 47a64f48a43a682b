import { useState, type FormEvent } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { MembersView, NewMemberView, Role } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Field, FormFault } from '../parts/field.tsx';
import { Instant } from '../parts/instant.tsx';
import { Empty, Loaded } from '../parts/load-state.tsx';
import { OnceSecret } from '../parts/once-secret.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { PERMISSION_WORDS } from '../shell/permission-words.ts';
import type { PageProps } from '../shell/page-props.ts';

type Member = MembersView['rows'][number];

const ROLES: readonly { readonly id: Role; readonly says: string }[] = [
  { id: 'viewer', says: 'sees traffic, usage and policy' },
  { id: 'developer', says: 'also single requests, and makes keys' },
  { id: 'finance', says: 'sees costs and bills, and sets the spending cap' },
  { id: 'admin', says: 'may do everything' },
];

/** Who belongs to the workspace and with which role: add, change, remove. */
export function Members({ slug }: PageProps) {
  const queryClient = useQueryClient();
  const [added, setAdded] = useState<NewMemberView>();
  const members = useQuery({ queryKey: ['members', slug], queryFn: () => consoleApi.members(slug) });
  const reload = () => queryClient.invalidateQueries({ queryKey: ['members', slug] });
  return (
    <>
      <PageHead title="Members">People who may see this workspace. A role holds for this workspace only.</PageHead>
      {added !== undefined && <Added added={added} onDone={() => setAdded(undefined)} />}
      <Panel title="Add somebody">
        <AddMember
          slug={slug}
          onAdded={(view) => {
            setAdded(view);
            void reload();
          }}
        />
      </Panel>
      <Panel title="Members">
        <Loaded query={members}>
          {(data) =>
            data.rows.length === 0 ? (
              <Empty title="Nobody yet" />
            ) : (
              <MemberTable slug={slug} rows={data.rows} onChanged={reload} />
            )
          }
        </Loaded>
      </Panel>
      <Panel title="What each role may do">
        <Loaded query={members}>{(data) => <RoleTable roles={data.roles} />}</Loaded>
      </Panel>
    </>
  );
}

function Added({ added, onDone }: { added: NewMemberView; onDone: () => void }) {
  if (added.invitation === null) {
    return (
      <div className="notice good failure" role="status">
        <span>
          {added.email} is now a member with the role {added.role}, from the next sign-in on.
        </span>
        <button type="button" onClick={onDone}>
          Close
        </button>
      </div>
    );
  }
  // The invitation stands behind the #, so that it reaches no server and no log when the link is opened.
  return (
    <OnceSecret
      title={`Send this link to ${added.email}`}
      secret={`${window.location.origin}/join#${added.invitation}`}
      onDone={onDone}
    >
      <p>
        Who opens it sets a password and is then a member with the role {added.role}.
        {added.expires_at !== null && (
          <>
            {' '}
            It works until <Instant at={added.expires_at} />.
          </>
        )}
      </p>
    </OnceSecret>
  );
}

function RoleSelect({
  value,
  onChange,
  ...rest
}: {
  value: Role;
  onChange: (role: Role) => void;
  id?: string;
  'aria-label'?: string;
  disabled?: boolean;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: true | undefined;
}) {
  return (
    <select {...rest} value={value} onChange={(event) => onChange(event.target.value as Role)}>
      {ROLES.map(({ id, says }) => (
        <option key={id} value={id}>
          {id}: {says}
        </option>
      ))}
    </select>
  );
}

function AddMember({ slug, onAdded }: { slug: string; onAdded: (view: NewMemberView) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const add = useMutation({
    mutationFn: () => consoleApi.addMember(slug, { email, role }),
    onSuccess: (view) => {
      setEmail('');
      onAdded(view);
    },
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    add.mutate();
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div className="fields">
        <Field label="E-mail address" error={add.error} path="email">
          {(props) => (
            <input {...props} type="email" required value={email} onChange={(e) => setEmail(e.target.value)} />
          )}
        </Field>
        <Field label="Role" error={add.error} path="role">
          {(props) => <RoleSelect {...props} value={role} onChange={setRole} />}
        </Field>
      </div>
      <FormFault error={add.error} paths={['email', 'role']} />
      <div className="actions">
        <button className="primary" disabled={add.isPending}>
          {add.isPending ? 'Adding …' : 'Add'}
        </button>
      </div>
    </form>
  );
}

function MemberTable({
  slug,
  rows,
  onChanged,
}: {
  slug: string;
  rows: readonly Member[];
  onChanged: () => Promise<void>;
}) {
  return (
    <div className="scroll-x">
      <table className="cards">
        <thead>
          <tr>
            <th>Person</th>
            <th>Role</th>
            <th>State</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((member) => (
            <tr key={member.member_id}>
              <td className="break">
                <strong>{member.email}</strong> {member.you && <span className="muted">(you)</span>}
              </td>
              <td data-label="Role">
                <MemberRole slug={slug} member={member} onChanged={onChanged} />
              </td>
              <td data-label="State">
                {member.status === 'active' ? (
                  'member'
                ) : (
                  <div>
                    <Badge tone="warn">invited</Badge>
                    {member.expires_at !== null && (
                      <span className="muted">
                        {' '}
                        until <Instant at={member.expires_at} />
                      </span>
                    )}
                  </div>
                )}
              </td>
              <td className="row-actions">
                <Confirm
                  verb="Remove"
                  name={`Remove ${member.email}`}
                  warning={
                    member.you
                      ? 'You will no longer see this workspace.'
                      : 'This person will no longer see this workspace. Keys that were made stay.'
                  }
                  confirm="Remove"
                  keep="Keep"
                  act={async () => {
                    await consoleApi.removeMember(slug, member.member_id);
                    await onChanged();
                  }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MemberRole({ slug, member, onChanged }: { slug: string; member: Member; onChanged: () => Promise<void> }) {
  const change = useMutation({
    mutationFn: (role: Role) => consoleApi.changeRole(slug, member.member_id, role),
    onSettled: onChanged,
  });
  return (
    <>
      <RoleSelect
        aria-label={`Role of ${member.email}`}
        value={change.isPending ? change.variables : member.role}
        disabled={change.isPending}
        onChange={(role) => change.mutate(role)}
      />
      {change.isError && (
        <p className="fault" role="alert">
          {change.error.message}
        </p>
      )}
    </>
  );
}

function RoleTable({ roles }: { roles: MembersView['roles'] }) {
  const permissions = [...new Set(roles.flatMap((role) => role.permissions))];
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="Roles and permissions">
      <table className="roles">
        <thead>
          <tr>
            <th>May</th>
            {roles.map(({ role }) => (
              <th key={role}>{role}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {permissions.map((permission) => (
            <tr key={permission}>
              <td>
                {PERMISSION_WORDS[permission].lets} <code className="muted">{permission}</code>
              </td>
              {roles.map(({ role, permissions: held }) => (
                <td key={role}>{held.includes(permission) ? 'yes' : <span className="muted">no</span>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
