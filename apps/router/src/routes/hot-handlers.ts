import {
  FEEDBACK_METRICS,
  FeedbackRequest,
  RouteBatchRequest,
  type FeedbackAnswer,
  type RouteBatchAnswer,
} from '@sluice/contracts';
import { fieldFaults, parseStorable, type PartyRates } from '@sluice/service-kit';
import type { RouteDecider } from '../decide/route-decider.ts';
import type { HotHandler } from '../http/hot-routes.ts';
import { isProblem, tooMuch, type Reply } from '../http/reply.ts';
import type { TakeFeedback } from '../learn/feedback.ts';

/** The routes that are asked for every call. */
export function createHotHandlers({
  decide,
  takeFeedback,
  shares,
}: {
  decide: RouteDecider;
  takeFeedback: TakeFeedback;
  /** Of each tenant; an item of feedback takes one. */
  shares: Pick<PartyRates, 'take'>;
}): Readonly<Record<'/route' | '/route/batch' | '/feedback', HotHandler>> {
  return {
    '/route': decide,
    '/route/batch': (body, caller): Reply<RouteBatchAnswer> => {
      const parsed = parseStorable(RouteBatchRequest, body);
      if (!parsed.success) return { status: 400, title: 'The request body is not valid', errors: parsed.faults };
      const items = parsed.data.items.map((item): RouteBatchAnswer['items'][number] => {
        const reply = decide(item, caller);
        if (!isProblem(reply)) return { status: 200, answer: reply.body };
        const { status, title, detail, errors } = reply;
        return {
          status,
          title,
          ...(detail === undefined ? {} : { detail }),
          ...(errors === undefined ? {} : { errors: [...errors] }),
        };
      });
      return { status: 200, body: { items } };
    },
    '/feedback': async (body, caller): Promise<Reply<FeedbackAnswer>> => {
      const parsed = parseStorable(FeedbackRequest, body);
      if (!parsed.success)
        return {
          status: 400,
          title: 'The feedback is not valid',
          detail: `Send one or a list of { decision_id, metric, value }: metric ${FEEDBACK_METRICS.join(' or ')}, value in [0, 1].`,
          errors: parsed.faults[0]?.path === '' ? (faultsOf(body) ?? parsed.faults) : parsed.faults,
        };
      const single = !Array.isArray(parsed.data);
      const items = Array.isArray(parsed.data) ? parsed.data : [parsed.data];
      const waitMs = caller.kind === 'key' ? shares.take(caller.key.workspace.tenant, items.length) : 0;
      if (waitMs > 0) return tooMuch(waitMs);
      const results = await takeFeedback(items, caller);
      const first = results[0];
      if (single && first !== undefined && first.status !== 202) return { status: first.status, title: first.title };
      return { status: 202, body: { results } };
    },
  };
}

/** The faults of the alternative that was meant, where a union would only say that none fits. */
function faultsOf(body: unknown) {
  const [single, list] = FeedbackRequest.options;
  const meant = (Array.isArray(body) ? list : single).safeParse(body);
  return meant.success ? undefined : fieldFaults(meant.error);
}
