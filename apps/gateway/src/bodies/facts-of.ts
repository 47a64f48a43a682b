import type { BodyFacts, BodyPayloads, InboundCall, ModelAbility } from '@sluice/contracts';
import { promptText } from '@sluice/routing';
import { textTokens } from '../metering/estimated-input.ts';
import { needsOf } from '../stages/resolve/needs-of.ts';
import { payloadsIn } from './payloads.ts';

type Known = Pick<InboundCall, 'body' | 'large'>;

/** All that the request path asks of what a body says. Takes as long as the body is large. */
export function factsIn(body: InboundCall['body']): BodyFacts {
  return {
    needs: needsOf(body),
    textTokens: textTokens(body),
    promptText: promptText(body),
    payloads: payloadsIn(body),
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
