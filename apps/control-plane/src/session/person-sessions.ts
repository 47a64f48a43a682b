import type { OpenedSession, PersonSession } from '@sluice/contracts';

/** A person may have so many sessions at once; the one opened first ends for the next. */
export const MAX_SESSIONS_OF_ONE = 50;

/**
 * The console's sessions of people, kept for every backend of the console. Each method throws while the database is
 * away.
 */
export interface PersonSessions {
  open(opened: OpenedSession): Promise<void>;
  /** Notes the use; undefined for a session that is unknown, ended or expired. */
  seen(tokenDigest: string): Promise<PersonSession | undefined>;
  /** Of one person, newest first. */
  of(userId: string): Promise<OpenedSession[]>;
  /** Ends those of these that are the person's; how many. */
  end(userId: string, tokenDigests: readonly string[]): Promise<number>;
  /** Ends all of a person whose account has changed. */
  endOf(userId: string): Promise<void>;
}
