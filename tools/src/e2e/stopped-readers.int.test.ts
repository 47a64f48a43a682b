import { stopReading } from './stop-reading.ts';

const MB = 1024 * 1024;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('40 readers of one tenant that stop reading', () => {
  it('hold little of what is sent to them, disturb no other tenant, and free their providers when they go', async () => {
    const result = await stopReading(40);
    expect(result.sentBytes).toBeLessThan(result.offeredBytes * 0.5);
    // Unbounded, they would hold what the kernel does not, about 24 MB each.
    expect(result.after - result.before).toBeLessThan(150 * MB);
    expect(result.otherTenant).toContain('[DONE]');
    expect(result.leftOpen).toBe(0);
  }, 180_000);
});
