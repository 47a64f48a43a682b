import type { Segment } from './segment.ts';

/** How many bytes on disk belong to each workspace, so that none of them fills the outbox alone. */
export interface WorkspaceShares {
  add(segment: Segment, workspaceId: string, bytes: number): void;
  /** The segment is deleted. */
  drop(segment: Segment): void;
  /** The workspace has used up what one may have. */
  full(workspaceId: string): boolean;
}

/** @param shareBytes what one workspace may have on disk; at least two segments, or one that is written would fill it. */
export function createWorkspaceShares(segments: readonly Segment[], shareBytes: number): WorkspaceShares {
  const bytesOf = new Map<string, number>();
  const count = (workspaceId: string, bytes: number): void => {
    const total = (bytesOf.get(workspaceId) ?? 0) + bytes;
    if (total > 0) bytesOf.set(workspaceId, total);
    else bytesOf.delete(workspaceId);
  };
  for (const { byWorkspace } of segments) for (const [workspaceId, bytes] of byWorkspace) count(workspaceId, bytes);
  return {
    add(segment, workspaceId, bytes) {
      segment.byWorkspace.set(workspaceId, (segment.byWorkspace.get(workspaceId) ?? 0) + bytes);
      count(workspaceId, bytes);
    },
    drop(segment) {
      for (const [workspaceId, bytes] of segment.byWorkspace) count(workspaceId, -bytes);
    },
    full: (workspaceId) => (bytesOf.get(workspaceId) ?? 0) >= shareBytes,
  };
}
