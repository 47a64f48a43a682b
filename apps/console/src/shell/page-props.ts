import type { Permission } from '@sluice/contracts';

/** What a page is given. */
export interface PageProps {
  readonly slug: string;
  readonly permissions: readonly Permission[];
  /** The single thing that the address names, such as a request id. */
  readonly item: string | undefined;
}
