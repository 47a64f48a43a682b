import type { SeriesView } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { readSeries, type SeriesRange } from '../series/read-series.ts';
import { readLatency, readMeters, type Latency, type MeterSums } from './figures-reader.ts';
import { searchRequests, type FoundRequest, type RequestSearch } from './request-reader.ts';
import { readUsageGroups, type UsageGroups, type UsageRange } from './usage-reader.ts';

/** What the tenants' console asks of ledger and anomalies beyond what operators ask. */
export interface TenantFigures {
  usageGroups(range: UsageRange): Promise<UsageGroups>;
  requests(search: RequestSearch): Promise<{ found: FoundRequest[]; next_cursor: string | null }>;
  meters(scope: { tenant?: string; workspace?: string }, fromMs: number, toMs: number): Promise<MeterSums>;
  latency(workspace: string, fromMs: number): Promise<Latency | null>;
  series(range: SeriesRange): Promise<SeriesView>;
}

export function createPostgresTenantFigures({ db }: { db: Db }): TenantFigures {
  return {
    usageGroups: (range) => readUsageGroups(db, range),
    requests: (search) => searchRequests(db, search),
    meters: (scope, fromMs, toMs) => readMeters(db, scope, fromMs, toMs),
    latency: (workspace, fromMs) => readLatency(db, workspace, fromMs),
    series: (range) => readSeries(db, range),
  };
}
