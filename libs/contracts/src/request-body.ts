import type { ModelAbility, ProviderDialect } from './catalogue.ts';
import type { Refusal } from './errors.ts';
import type { ServedUse } from './usage.ts';

/** Where one top-level member of a JSON object stands, as byte offsets. */
export interface MemberRange {
  readonly key: string;
  /** Its place among all members, from 0. */
  readonly ordinal: number;
  /** First byte of the key's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** One past the value's last byte. */
  readonly valueEnd: number;
  /** One past the last byte of the member before; undefined of the first. */
  readonly previousEnd: number | undefined;
  /** First byte of the member that follows; undefined of the last. */
  readonly nextStart: number | undefined;
}

/** Where the members of a JSON object stand that somebody may have to replace. */
export interface ObjectIndex {
  /** The keys that were looked for; of others nothing is known. */
  readonly keys: ReadonlySet<string>;
  /** In the order of the text. */
  readonly members: readonly MemberRange[];
  /** Members in all. */
  readonly count: number;
  /** Offset of the closing brace. */
  readonly closeAt: number;
}

/** Images, audio and files that stand in a body as base64: recognised parts of messages, and nothing else. */
export interface BodyPayloads {
  readonly images: number;
  /** Characters of base64 of the images. */
  readonly imageBytes: number;
  /** Characters of base64 of all of them; each is a byte of the body. */
  readonly bytes: number;
}

/** What the request path has to know of what a body says. */
export interface BodyFacts {
  /** What a model must be able to do to answer it. */
  readonly needs: readonly ModelAbility[];
  /** Tokens that its text comes to, at four characters each. */
  readonly textTokens: number;
  /** The text that features of routing are computed from, at most 16 KiB. */
  readonly promptText: string;
  readonly payloads: BodyPayloads;
  /** What it asks for that has a price of its own; undefined for an ordinary call. */
  readonly askedUse: ServedUse | undefined;
  /** It names input that is not in its bytes, or output that is not sent. */
  readonly isOpaque: boolean;
}

/**
 * A body that is too large to be parsed on the event loop, as a worker read it. The caller's bytes are all that is
 * kept of it; what the path needs of them was found out at once.
 */
export interface LargeBody {
  readonly facts: BodyFacts;
  /** Whether it can be carried to the other dialects of the chain: a refusal where it cannot. */
  readonly judged: readonly {
    readonly dialect: ProviderDialect;
    readonly carryFields: readonly string[];
    readonly refusal: Refusal | undefined;
  }[];
  /** The request in the dialect of the provider that is tried now, written by a worker. */
  translated?: WrittenBody;
}

/** A request's body in the dialect of a provider. */
export interface WrittenBody {
  readonly body: Buffer;
  /** Paths of the caller's fields that were left out, because the provider's dialect has no place for them here. */
  readonly dropped?: readonly string[];
}
