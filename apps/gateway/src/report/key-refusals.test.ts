import type { IncomingMessage } from 'node:http';
import { AuditEvent, type OutgoingEvent } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { refusedKeyOf } from '../stages/authenticate/authenticate.ts';
import { compiledSample } from '../testing/compiled-sample.ts';
import { SAMPLE_KEYS } from '../testing/sample-snapshot.ts';
import { createKeyRefusals } from './key-refusals.ts';

const clock = createFakeClock(Date.UTC(2026, 2, 10, 12));
const config = compiledSample();
const knownId = SAMPLE_KEYS.acme.split('-')[2] ?? '';
const SECRET = 'WRONGsecretWRONGsecretWRONGsecret12345678';

const request = (authorization: string | undefined, address = '198.51.100.7') =>
  ({
    headers: authorization === undefined ? {} : { authorization },
    rawHeaders: [],
    socket: { remoteAddress: address },
  }) as unknown as IncomingMessage;

function refuse(published: OutgoingEvent[], refused: string[] = []) {
  const refusals = createKeyRefusals({
    gatewayId: 'gw-1',
    epoch: () => 3,
    clock,
    publisher: { publish: async (events) => (published.push(...events), refused) },
  });
  const send = (authorization: string | undefined, address?: string) => {
    const key = refusedKeyOf(config, request(authorization, address), { code: 'unauthenticated' });
    if (key !== undefined) refusals.record(key);
  };
  return { refusals, send };
}

describe('refused keys', () => {
  it('become one audit event per second and workspace, with id and address, and never the secret', async () => {
    const published: OutgoingEvent[] = [];
    const { refusals, send } = refuse(published);
    for (let n = 0; n < 500; n += 1) send(`Bearer sk-sluice-${knownId}-${SECRET}`, `198.51.100.${n % 50}`);
    for (let n = 0; n < 500; n += 1) send(`Bearer sk-sluice-guess${String(n).padStart(5, '0')}-${SECRET}`);
    await refusals.flush();
    expect(published).toEqual([]);
    clock.advance(1_000);
    await refusals.flush();
    await refusals.flush();
    expect(published).toHaveLength(2);
    const [known, unknown] = published.map((event) => AuditEvent.parse(JSON.parse(event.body)));
    const owner = config.keys.get(knownId)?.workspace;
    expect(known).toMatchObject({
      type: 'key.refused',
      actor: { kind: 'api_key', id: knownId, address: '198.51.100.0' },
      tenant_id: owner?.tenant.id,
      workspace: owner?.workspace.slug,
      after: { count: 500, reasons: { wrong_secret: 500 }, key_ids: [knownId] },
    });
    expect(unknown).toMatchObject({
      actor: { kind: 'anonymous' },
      after: { count: 500, reasons: { unknown_key: 500 } },
    });
    expect((unknown?.after as { key_ids: string[] }).key_ids).toHaveLength(5);
    expect(unknown?.tenant_id).toBeUndefined();
    expect(published[0]?.attributes).toEqual({ type: 'key.refused', tenant_id: owner?.tenant.id });
    expect(JSON.stringify(published)).not.toContain(SECRET.slice(0, 8));
  });

  it('are not those of a caller that sent no key, or none that could be one', () => {
    expect(refusedKeyOf(config, request(undefined), { code: 'unauthenticated' })).toBeUndefined();
    expect(refusedKeyOf(config, request('Bearer hello'), { code: 'unauthenticated' })).toBeUndefined();
    expect(
      refusedKeyOf(config, request(`Bearer sk-sluice-${knownId}-${SECRET}`), { code: 'duplicate_header' }),
    ).toBeUndefined();
  });

  it('count what could not be published', async () => {
    const { refusals, send } = refuse([], ['x']);
    send(`Bearer sk-sluice-${knownId}-${SECRET}`);
    clock.advance(1_000);
    await refusals.flush();
    expect(refusals.dropped).toBe(1);
  });
});
