import { readFileSync } from 'node:fs';

/** CPU that the connections of this database have used, microseconds; NaN where /proc does not tell. */
export async function connectionCpuUs(pool: {
  query(text: string): Promise<{ rows: { pid: number }[] }>;
}): Promise<number> {
  const { rows } = await pool.query(
    "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
  );
  try {
    return rows.reduce((sum, { pid }) => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return sum + (Number(fields[11]) + Number(fields[12])) * 10_000;
    }, 0);
  } catch {
    return NaN;
  }
}
