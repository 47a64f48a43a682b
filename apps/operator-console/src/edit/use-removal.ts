import { useMutation } from '@tanstack/react-query';
import { ApiError } from '../api/call.ts';

export interface Removal {
  readonly sure: () => void;
  readonly busy: boolean;
  readonly error: Error | null;
}

/**
 * Deletes what a page shows. Who was too late is shown the newest and asked again, because it may be worth keeping
 * now.
 */
export function useRemoval({
  remove,
  reload,
  onGone,
}: {
  remove: () => Promise<void>;
  reload: () => void;
  onGone: () => void;
}): Removal {
  const removal = useMutation({
    mutationFn: async () => {
      try {
        await remove();
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        reload();
        throw new ApiError(
          412,
          'It was not deleted: it has changed since this page was read. You see it as it is now; delete it again if it is still to go.',
        );
      }
    },
    onSuccess: onGone,
  });
  return { sure: () => removal.mutate(), busy: removal.isPending, error: removal.error };
}
