import type { CompiledConfig } from '../compiled-config.ts';
import { createCompiler } from '../config/compile.ts';
import { readConfigRows } from '../config/config-rows.ts';
import type { Log } from '../log.ts';
import { sampleSnapshot, type RawSnapshot } from './sample-snapshot.ts';
import { createSilentLog } from './silent-log.ts';

/** The sample configuration in force. `change` edits the raw value before it is parsed. */
export function compiledSample(change?: (raw: RawSnapshot) => void, logger: Log = createSilentLog()): CompiledConfig {
  return createCompiler({ logger })(readConfigRows(sampleSnapshot(change), logger));
}
