import { asObject } from '../../token-count.ts';
import { asText, type Carrier, isUnset, type Json } from '../carrier.ts';

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

/** An image part as an image block: a data URL as its bytes, an https URL as it is. */
export function translateImage(part: Json, path: string, carrier: Carrier): Json {
  const image = asObject(part.image_url);
  const url = asText(image?.url);
  const urlPath = `${path}.image_url.url`;
  if (image === undefined || url === undefined) {
    carrier.invalid(urlPath, 'must be a URL');
    return {};
  }
  if (!isUnset(image.detail) && image.detail !== 'auto')
    carrier.refuse(`${path}.image_url.detail`, 'the resolution is chosen by the model');
  if (url.startsWith('https://')) return { type: 'image', source: { type: 'url', url } };
  const data = DATA_URL.exec(url);
  if (data === null) {
    carrier.refuse(urlPath, 'an image is a data URL with base64 or an https URL');
    return {};
  }
  return {
    type: 'image',
    source: { type: 'base64', media_type: (data[1] as string).toLowerCase(), data: url.slice(data[0].length) },
  };
}
