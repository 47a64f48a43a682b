import { stopReading } from './stop-reading.ts';

const MB = 1024 * 1024;
/** Connections to the provider that are kept from before, and used again. */
const WARM_CONNECTIONS = 10;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

/**
 * More than a reader's kernel and the gateway keep of it, and for all of them less than the kernel gives to
 * sockets.
 */
const STREAM_BYTES = MB / 2;

onLinux('1,000 readers of one tenant that stop reading', () => {
  it('hold little of what is sent to them, disturb no other tenant, and free their providers when they go', async () => {
    const result = await stopReading(1_000, STREAM_BYTES);
    expect(result.held).toBeGreaterThanOrEqual(1_000 - WARM_CONNECTIONS);
    // Unbounded, they would hold most of the 500 MB.
    expect(result.after - result.before).toBeLessThan(150 * MB);
    expect(result.otherTenant).toContain('[DONE]');
    expect(result.leftOpen).toBe(0);
  }, 240_000);
});
