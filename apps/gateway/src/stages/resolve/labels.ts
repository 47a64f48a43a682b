import type { IncomingHttpHeaders } from 'node:http';
import { HEADER, type Refusal } from '@sluice/contracts';

const FEATURE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const TAG_KEY = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const MAX_TAGS = 16;
const MAX_TAG_VALUE = 256;
const TAG_FORM = `x-sluice-tags must look like key=value,key2=value2: at most ${MAX_TAGS}, keys of up to 64 letters, digits, or . _ : - and values of up to ${MAX_TAG_VALUE} characters.`;

/** What a caller says of a request for its own books. */
export interface Labels {
  readonly feature: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * Feature and tags from `x-sluice-feature` and `x-sluice-tags`. The key's own tags cannot be overridden by a
 * request.
 */
export function readLabels(headers: IncomingHttpHeaders, own: Readonly<Record<string, string>>): Labels | Refusal {
  const feature = headers[HEADER.feature];
  if (feature !== undefined && feature !== '' && (typeof feature !== 'string' || !FEATURE.test(feature))) {
    return {
      code: 'invalid_value',
      param: HEADER.feature,
      message: 'x-sluice-feature must be 1 to 128 letters, digits, or . _ : / - and begin with a letter or digit.',
    };
  }
  const header = headers[HEADER.tags];
  const tags = typeof header === 'string' && header !== '' ? readTags(header, own) : own;
  if (tags === undefined) return { code: 'invalid_value', param: HEADER.tags, message: TAG_FORM };
  return { feature: feature === '' ? undefined : feature, tags };
}

function readTags(header: string, own: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const pairs = header.split(',', MAX_TAGS + 1);
  if (pairs.length > MAX_TAGS) return undefined;
  const tags = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, equals)).trim();
    const value = pair.slice(equals + 1).trim();
    if (!TAG_KEY.test(key) || value.length > MAX_TAG_VALUE) return undefined;
    tags.set(key, value);
  }
  return Object.fromEntries([...tags, ...Object.entries(own)]);
}
