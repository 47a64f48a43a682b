import { useQuery } from '@tanstack/react-query';
import type { OperatorApi } from '../api/operator-api.ts';
import { offInWords } from '../kill-switches/kill-switches-page.tsx';
import { Link } from '../routing/location.tsx';

/** Says what is switched off by hand; nothing while nothing is. */
export function KillSwitchNotice({ api }: { api: OperatorApi }) {
  const { data = [] } = useQuery({
    queryKey: ['kill-switches'],
    queryFn: () => api.tables.list('kill-switches'),
    staleTime: 0,
    refetchInterval: 5_000,
  });
  if (data.length === 0) return null;
  return (
    <p className="notice bad">
      <strong>Switched off by hand:</strong> {data.map(({ value }) => offInWords(value)).join(', ')}.{' '}
      <Link to="/kill-switches">Kill switches</Link>
    </p>
  );
}
