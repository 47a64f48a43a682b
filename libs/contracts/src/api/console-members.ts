import { z } from 'zod';
import { Instant } from '../ids.ts';
import { Permission, Role } from '../tenancy.ts';

const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(200)
  .meta({ examples: ['ada@acme.example'] })
  .pipe(z.email());

/** `GET /api/members`: who has a role in the workspace, by address. */
export const MembersView = z.strictObject({
  rows: z.array(
    z.strictObject({
      member_id: z.string(),
      email: z.string(),
      role: Role,
      /** An invited person has not set a password yet. */
      status: z.enum(['active', 'invited']),
      /** The person who asks. */
      you: z.boolean(),
      expires_at: Instant.nullable(),
    }),
  ),
  /** What each role may do. */
  roles: z.array(z.strictObject({ role: Role, permissions: z.array(Permission) })),
});
export type MembersView = z.infer<typeof MembersView>;

/** `POST /api/members`. */
export const NewMemberRequest = z.strictObject({ email: Email, role: Role });
export type NewMemberRequest = z.infer<typeof NewMemberRequest>;

/**
 * A colleague of the same customer is a member at once. Everybody else is invited, whether the address is known
 * here or not: `invitation` is shown this once and goes to `POST /api/invitations` with a password.
 */
export const NewMemberView = z.strictObject({
  member_id: z.string(),
  email: z.string(),
  role: Role,
  status: z.enum(['active', 'invited']),
  invitation: z.string().nullable(),
  expires_at: Instant.nullable(),
});
export type NewMemberView = z.infer<typeof NewMemberView>;

/** `PUT /api/members/<member id>`. */
export const MemberRequest = z.strictObject({ role: Role });
export type MemberRequest = z.infer<typeof MemberRequest>;
export const MemberView = z.strictObject({ member_id: z.string(), role: Role });
export type MemberView = z.infer<typeof MemberView>;

/**
 * `POST /api/invitations`, without a session: 204, then the person signs in. Who has an account already gives its
 * password.
 */
export const AcceptInvitationRequest = z.strictObject({
  invitation: z.string().min(20).max(100),
  password: z.string().min(12, 'must have at least 12 characters').max(200),
});
export type AcceptInvitationRequest = z.infer<typeof AcceptInvitationRequest>;

/** `GET /api/invitations`: to workspaces that the signed-in person may join. Their secrets are with who invited. */
export const OwnInvitationsView = z.strictObject({
  rows: z.array(z.strictObject({ invitation_id: z.string(), workspace: z.string(), role: Role, expires_at: Instant })),
});
export type OwnInvitationsView = z.infer<typeof OwnInvitationsView>;

/** `POST /api/invitations/<invitation id>`, signed in: 204, and the role holds. `invitation` is the secret. */
export const TakeOwnInvitationRequest = z.strictObject({ invitation: z.string().min(20).max(100) });
export type TakeOwnInvitationRequest = z.infer<typeof TakeOwnInvitationRequest>;

/** `POST /api/password`: 204, then every session of the person has ended, this one too. */
export const ChangePasswordRequest = z.strictObject({
  old_password: z.string().min(1, 'is needed').max(500),
  new_password: z.string().min(12, 'must have at least 12 characters').max(500),
});
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>;
