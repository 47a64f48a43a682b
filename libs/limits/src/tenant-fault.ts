/**
 * The authority answered that what it holds of one tenant is broken. The link stands, and the others are as they were.
 */
export class TenantFault extends Error {
  override readonly name = 'TenantFault';
}
