import { ProblemError } from '@sluice/service-kit';
import { verifyPassword } from './password.ts';

/** Passwords that are checked at once: each takes 32 MiB and a core for a while. */
const AT_ONCE = 4;
const WAITING = 16;

/**
 * Checks passwords, few at once while some wait; what comes on top is refused, so that guessing, also of names that
 * do not exist, cannot take the process's memory and time.
 */
export function createPasswordCheck(verify: typeof verifyPassword = verifyPassword): typeof verifyPassword {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (password, hash) => {
    if (running < AT_ONCE) running += 1;
    else if (waiting.length < WAITING) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new ProblemError(429, 'Too many sign-ins at once', { headers: { 'retry-after': '1' } });
    try {
      return await verify(password, hash);
    } finally {
      // Whoever waits takes this place over.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
