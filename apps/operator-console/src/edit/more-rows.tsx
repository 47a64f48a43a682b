/** As much of an infinite query as is used. */
export interface MoreRowsProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
  readonly noun: string;
}

/** Reads the next page of a list, where there is one. */
export function MoreRows({ query, noun }: MoreRowsProps) {
  if (!query.hasNextPage) return null;
  return (
    <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      More {noun}
    </button>
  );
}
