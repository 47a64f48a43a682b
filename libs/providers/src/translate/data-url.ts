const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+)(?:;[a-z]+=[^;,]*)*;base64,/i;

/** Bytes in a URL. */
export interface DataUrl {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** A data URL with base64; undefined for any other text. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const found = DATA_URL.exec(url);
  return found === null ? undefined : { mediaType: mediaTypeOf(found[1] as string), data: url.slice(found[0].length) };
}

/** A media type as the standard has it: `image/jpg`, which many write, is none that providers take. */
export function mediaTypeOf(type: string): string {
  const lower = type.toLowerCase();
  return lower === 'image/jpg' ? 'image/jpeg' : lower;
}
