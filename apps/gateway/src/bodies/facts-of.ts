import type { BodyFacts, BodyPayloads, InboundCall, ModelAbility, ServedUse } from '@sluice/contracts';
import { promptText } from '@sluice/routing';
import { textTokens } from '../metering/estimated-input.ts';
import { isOpaqueBody } from '../metering/opaque-body.ts';
import { askedUse } from '../metering/asked-use.ts';
import { needsOf } from './needs-of.ts';
import { payloadsIn } from './payloads.ts';

type Known = Pick<InboundCall, 'body' | 'large'>;

/** All that the request path asks of what a body says. Takes as long as the body is large. */
export function factsIn(body: InboundCall['body']): BodyFacts {
  return {
    needs: needsOf(body),
    textTokens: textTokens(body),
    promptText: promptText(body),
    payloads: payloadsIn(body),
    askedUse: askedUse(body),
    isOpaque: isOpaqueBody(body),
  };
}

/** What a model must be able to do to answer the call. */
export const abilitiesFor = ({ body, large }: Known): readonly ModelAbility[] => large?.facts.needs ?? needsOf(body);

/** Tokens that the call's text comes to, at four characters each. */
export const textTokensOf = ({ body, large }: Known): number => large?.facts.textTokens ?? textTokens(body);

/** The text that features of routing are computed from. */
export const promptTextOf = ({ body, large }: Known): string => large?.facts.promptText ?? promptText(body);

/** The call's images, audio and files. */
export const payloadsOf = ({ body, large }: Known): BodyPayloads => large?.facts.payloads ?? payloadsIn(body);

/** What the call asks for that has a price of its own. */
export const askedUseOf = ({ body, large }: Known): ServedUse | undefined =>
  large === undefined ? askedUse(body) : large.facts.askedUse;

/** Whether the call's input, and its output, is more than its bytes. */
export const isOpaque = ({ body, large }: Known): boolean => large?.facts.isOpaque ?? isOpaqueBody(body);
