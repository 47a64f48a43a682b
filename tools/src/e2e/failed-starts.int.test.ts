import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@sluice/testing';
import { stackFiles } from '../stack/settings.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState, type SupervisorState } from '../supervisor/supervisor-state.ts';
import { startFullStack } from './full-stack.ts';
import { startGatewayStack } from './gateway-stack.ts';

describe('a start that fails leaves no process and no folder', () => {
  const newFolder = (): string => mkdtempSync(join(tmpdir(), 'sluice-failed-start-'));

  it('of a whole stack that is not there in time', async () => {
    const dataDir = newFolder();
    const late = new AbortController();
    const starting = startFullStack({ dataDir, late: late.signal }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    let seen: SupervisorState | undefined;
    await eventually(
      () => {
        seen = readState(stackFiles(dataDir).state) ?? seen;
        expect(seen?.parts.some((part) => part.process !== undefined)).toBe(true);
      },
      { timeoutMs: 60_000 },
    );
    late.abort();
    expect(await starting).toContain('Everything that was started has been stopped');
    const { supervisor, parts } = seen as SupervisorState;
    expect([supervisor, ...parts.flatMap((part) => part.process ?? [])].filter(isAlive)).toEqual([]);
    expect(existsSync(dataDir)).toBe(false);
  }, 120_000);

  it('of a gateway that refuses its settings', async () => {
    const dataDir = newFolder();
    await expect(
      startGatewayStack({
        dataDir,
        workspaces: [{ tenant: 'acme', slug: 'acme-prod' }],
        env: { SLUICE_GATEWAY_ID: 'not an id' },
      }),
    ).rejects.toThrow('SLUICE_GATEWAY_ID');
    expect(existsSync(dataDir)).toBe(false);
  });
});
