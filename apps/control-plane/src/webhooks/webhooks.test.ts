import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOn, type Listening } from '@sluice/service-kit';
import { createFakeClock } from '@sluice/testing';
import { checkTarget, isPublicAddress } from './address-guard.ts';
import { createDeliverer, RETRY_AFTER_S } from './deliverer.ts';
import { createSendWebhook } from './send-webhook.ts';
import { SIGNATURE_HEADER, signWebhook, verifyWebhook, webhookSecret } from './signature.ts';
import { TEST_ID_PREFIX, type AttemptEnd, type DueDelivery } from './webhook-store.ts';

describe('the addresses that webhooks may go to', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.2.1',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    '2001::1',
    'not-an-address',
  ])('are not %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('may be %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  const check = (url: string, addresses: string[] | Error, allowLoopback = false) =>
    checkTarget(new URL(url), {
      allowLoopback,
      resolve: async () => (addresses instanceof Error ? Promise.reject(addresses) : addresses),
    });

  it('are judged after the name is resolved, and one private address is enough to refuse', async () => {
    expect(await check('https://hooks.example/', ['1.1.1.1'])).toEqual({ address: '1.1.1.1' });
    expect(await check('https://hooks.example/', ['1.1.1.1', '10.0.0.1'])).toHaveProperty('refused');
    expect(await check('https://hooks.example/', [])).toHaveProperty('refused');
    expect(await check('https://hooks.example/', new Error('no such name'))).toHaveProperty('refused');
  });

  it.each([
    'http://hooks.example/',
    'https://user:pass@hooks.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://127.1/',
  ])('are not behind %s', async (url) => expect(await check(url, ['1.1.1.1'])).toHaveProperty('refused'));

  it('are this machine only where that is allowed', async () => {
    expect(await check('http://localhost:1/', ['127.0.0.1'], true)).toEqual({ address: '127.0.0.1' });
    expect(await check('http://localhost:1/', ['10.0.0.1'], true)).toHaveProperty('refused');
  });
});

describe('a signature', () => {
  const secret = webhookSecret('master', 'wh_1');
  const header = signWebhook('{"a":1}', secret, 1000);
  const given = { body: '{"a":1}', header, secret, nowSeconds: 1100 };

  it('is verified as documented, and not for another body, secret, time or form', () => {
    expect(verifyWebhook(given)).toBe(true);
    expect(verifyWebhook({ ...given, body: '{"a":2}' })).toBe(false);
    expect(verifyWebhook({ ...given, secret: webhookSecret('master', 'wh_2') })).toBe(false);
    expect(verifyWebhook({ ...given, nowSeconds: 1301 })).toBe(false);
    expect(verifyWebhook({ ...given, header: header.replace('t=1000', 't=1100') })).toBe(false);
    expect(verifyWebhook({ ...given, header: 'v1=abc' })).toBe(false);
  });
});

describe('deliveries', () => {
  let receiver: Listening;
  let received: { headers: IncomingMessage['headers']; body: string }[];
  let answer: (res: ServerResponse) => void;
  beforeEach(async () => {
    received = [];
    const server = createServer((req, res) => {
      let body = '';
      req.on('data', (part: Buffer) => (body += part.toString()));
      req.on('end', () => {
        received.push({ headers: req.headers, body });
        answer(res);
      });
    });
    receiver = await listenOn(server, { host: '127.0.0.1', port: 0, graceMs: 10 });
  });
  afterEach(() => receiver.close());

  /** Sends one delivery on its n-th attempt to `http://hooks.test`, which leads here. */
  async function deliver(
    attempts: number,
    allowLoopback = true,
    path = '/in',
    alertId = 'alert_1',
  ): Promise<AttemptEnd> {
    const clock = createFakeClock(1_000_000);
    const ends: AttemptEnd[] = [];
    const due: DueDelivery = {
      id: 'dlv_1',
      webhookId: 'wh_1',
      tenant: 'acme',
      alertId,
      url: `http://hooks.test:${new URL(receiver.url).port}${path}`,
      body: '{"id":"alert_1"}',
      attempts,
    };
    await createDeliverer({
      store: { take: async () => [due], ended: async (_id, end) => void ends.push(end) },
      send: createSendWebhook({ resolve: async () => ['127.0.0.1'], allowLoopback, timeoutMs: 2_000 }),
      masterKey: 'master',
      clock,
      random: () => 0,
      onError: (error) => expect(error).toBeUndefined(),
    }).deliver();
    return ends[0] ?? { delivered: false, status: null, error: 'none', retryAtMs: undefined };
  }

  it('go to the address that was checked, under the name, signed, with the alert’s id', async () => {
    answer = (res) => res.writeHead(204).end();
    expect(await deliver(0)).toEqual({ delivered: true, status: 204, error: null, retryAtMs: undefined });
    const [got] = received;
    expect(got?.headers).toMatchObject({
      host: `hooks.test:${new URL(receiver.url).port}`,
      'x-sluice-webhook-id': 'alert_1',
    });
    expect(
      verifyWebhook({
        body: got?.body ?? '',
        header: String(got?.headers[SIGNATURE_HEADER]),
        secret: webhookSecret('master', 'wh_1'),
        nowSeconds: 1000,
      }),
    ).toBe(true);
  });

  it('are tried again later and later, and in the end not any more', async () => {
    answer = (res) => res.writeHead(500).end('secret of the receiver');
    expect(await deliver(0)).toEqual({
      delivered: false,
      status: 500,
      error: 'the receiver answered 500',
      retryAtMs: 1_000_000 + 10_000,
    });
    expect((await deliver(3)).retryAtMs).toBe(1_000_000 + 600_000);
    expect((await deliver(RETRY_AFTER_S.length)).retryAtMs).toBeUndefined();
    answer = (res) => res.writeHead(410).end();
    expect((await deliver(0)).retryAtMs).toBeUndefined();
  });

  it('are tried once when they are tests', async () => {
    answer = (res) => res.writeHead(500).end();
    expect(await deliver(0, true, '/in', `${TEST_ID_PREFIX}1`)).toEqual({
      delivered: false,
      status: 500,
      error: 'the receiver answered 500',
      retryAtMs: undefined,
    });
  });

  it('do not follow redirects', async () => {
    answer = (res) => res.writeHead(302, { location: `${receiver.url}/elsewhere` }).end();
    expect((await deliver(0)).error).toContain('redirects are not followed');
    expect(received).toHaveLength(1);
  });

  it.each(['101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', '200 OK\r\ncontent-le'])(
    'end although the receiver answers %j, so that no receiver stops those of all others',
    async (answered) => {
      answer = (res) => res.socket?.end(`HTTP/1.1 ${answered}`);
      expect(await deliver(0)).toEqual({
        delivered: false,
        status: null,
        error: 'the connection was cut',
        retryAtMs: 1_000_000 + 10_000,
      });
    },
  );

  it('are refused before the connection when the name leads to a private address now', async () => {
    answer = (res) => res.writeHead(204).end();
    expect((await deliver(0, false)).delivered).toBe(false);
    expect(received).toHaveLength(0);
  });
});

describe('a tenant whose receivers do not answer', () => {
  it('holds up no delivery of another, and has few under way itself', async () => {
    const due: DueDelivery[] = Array.from({ length: 9 }, (_, i) => ({
      id: `d${i}`,
      webhookId: 'wh',
      tenant: i < 8 ? 'slow' : 'other',
      alertId: 'a',
      url: 'https://hooks.test/',
      body: '{}',
      attempts: 0,
    }));
    const [sent, ended]: [string[], string[]] = [[], []];
    const asked: (readonly string[])[] = [];
    const never = new Promise<never>(() => undefined);
    const deliverer = createDeliverer({
      store: {
        take: async (_now, _lease, which) => {
          const without = which !== undefined && 'without' in which ? which.without : [];
          asked.push(without);
          const next = due.filter(({ tenant }) => !without.includes(tenant)).slice(0, 4);
          for (const one of next) due.splice(due.indexOf(one), 1);
          return next;
        },
        ended: async (id) => void ended.push(id),
      },
      send: async () => {
        sent.push('');
        return sent.length <= 4 ? never : { status: 200 };
      },
      masterKey: 'master',
      clock: createFakeClock(0),
      random: () => 0,
      onError: (error) => expect(error).toBeUndefined(),
    });
    void deliverer.deliver();
    await new Promise((resolve) => setImmediate(resolve));
    await deliverer.deliver();
    expect(asked).toEqual([[], ['slow']]);
    expect(ended).toEqual(['d8']);
    expect(due).toHaveLength(4);
  });
});
