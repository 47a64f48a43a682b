import { applyPatch, ConfigSnapshot } from './snapshot.ts';

const empty = ConfigSnapshot.parse({
  version: 1,
  tenants: {},
  workspaces: {},
  keys: {},
  plans: {},
  providers: {},
  models: {},
  cells: {},
  killSwitches: {},
});
const kill = { id: 'k', scope: 'all', message: 'Back at noon.', retryAfterSeconds: 60 };

describe('configuration patches', () => {
  it('give a new snapshot and leave the old one as it was', () => {
    const next = applyPatch(empty, { version: 2, changes: [{ table: 'killSwitches', id: 'k', value: kill }] });
    expect(next.killSwitches).toEqual({ k: kill });
    expect(empty.killSwitches).toEqual({});
    expect(applyPatch(next, { version: 3, changes: [{ table: 'killSwitches', id: 'k' }] }).killSwitches).toEqual({});
  });
  it('a patch that skips a version is refused, so that nothing is missed in silence', () => {
    expect(() => applyPatch(empty, { version: 3, changes: [{ table: 'killSwitches', id: 'k', value: kill }] })).toThrow(
      /does not follow/,
    );
  });
  it('a row that is not valid is refused', () => {
    expect(() =>
      applyPatch(empty, { version: 2, changes: [{ table: 'killSwitches', id: 'k', value: { ...kill, message: '' } }] }),
    ).toThrow();
  });
});
