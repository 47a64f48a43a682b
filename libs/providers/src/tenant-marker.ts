import { HEADER, type InboundCall } from '@sluice/contracts';
import type { Splice } from './json-splice.ts';
import { asObject } from './token-count.ts';

const isMarker = (key: string): boolean => key.toLowerCase() === HEADER.tenantMarker;

/** What takes a caller's own copies of the tenant marker out of a body: at its top, and at any depth of `metadata`. */
export function withoutMarkers({ body, index }: Pick<InboundCall, 'body' | 'index'>): Splice[] {
  const splices: Splice[] = [];
  for (const key in body) if (isMarker(key)) splices.push([key, undefined]);
  // A body that was read in slices names the fields that the gateway needs only.
  if (index !== undefined && splices.length === 0) splices.push([HEADER.tenantMarker, undefined]);
  const metadata = asObject(body.metadata);
  if (metadata === undefined) return splices;
  let found = false;
  const kept = JSON.stringify(metadata, (key, value: unknown) => {
    if (!isMarker(key)) return value;
    found = true;
    return undefined;
  });
  if (found) splices.push(['metadata', JSON.parse(kept)]);
  return splices;
}
