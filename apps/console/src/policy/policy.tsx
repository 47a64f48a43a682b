import { useQuery } from '@tanstack/react-query';
import { consoleApi } from '../api/console-api.ts';
import { Loaded } from '../parts/load-state.tsx';
import { PageHead } from '../parts/page.tsx';
import type { PageProps } from '../shell/page-props.ts';
import { PolicyEditor } from './policy-editor.tsx';

/** Limits and policy: what holds, where it comes from, and what may be changed. */
export function PolicyPage({ slug }: PageProps) {
  const policy = useQuery({
    queryKey: ['policy', slug],
    queryFn: () => consoleApi.policy(slug),
    refetchInterval: 10_000,
  });
  return (
    <>
      <PageHead title="Limits and policy">
        What the plan sets holds where this workspace says nothing of its own. A change is in force within a second.
      </PageHead>
      <Loaded query={policy} rows={10}>
        {(data) => <PolicyEditor slug={slug} latest={data} />}
      </Loaded>
    </>
  );
}
