import { setTimeout as sleep } from 'node:timers/promises';

export interface WatermarksOptions {
  readonly controlPlaneUrl: string;
  readonly token: string;
  readonly gatewayId: string;
  readonly onWatermark: (watermark: { epoch: number; sequence: number }) => void;
}

/** Follows the configuration stream for its acknowledgements only; comes back by itself. */
export function followWatermarks({ controlPlaneUrl, token, gatewayId, onWatermark }: WatermarksOptions): {
  readonly connected: boolean;
  close(): Promise<void>;
} {
  const abort = new AbortController();
  let connected = false;

  const once = async (): Promise<void> => {
    const response = await fetch(`${controlPlaneUrl}/internal/config/stream?gateway=${gatewayId}&since=0`, {
      headers: { authorization: `Bearer ${token}` },
      signal: abort.signal,
    });
    if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`);
    connected = true;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const data = lines.find((line) => line.startsWith('data:'))?.slice(5);
        if (lines.some((line) => /^event: ?watermark$/.test(line)) && data !== undefined)
          onWatermark(JSON.parse(data) as { epoch: number; sequence: number });
      }
    }
  };

  const following = (async () => {
    while (!abort.signal.aborted) {
      await once().catch(() => undefined);
      connected = false;
      await sleep(300, undefined, { signal: abort.signal }).catch(() => undefined);
    }
  })();
  return {
    get connected() {
      return connected;
    },
    async close() {
      abort.abort();
      await following;
    },
  };
}
