import type { ReactNode } from 'react';

/** A state in a word; the tone colours it, the word carries the meaning. */
export function Badge({ tone, children }: { tone: 'good' | 'warn' | 'bad' | 'plain'; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
