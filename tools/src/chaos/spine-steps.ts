import { z } from 'zod';
import { makeChanges } from './audited-changes.ts';
import { within, type ChaosContext, type ChaosStep } from './chaos-step.ts';

/** A failed message is a dead letter by then. */
const DEAD_WITHIN_S = 15;
const POISON = 12;
const POISONED = ['audit', 'anomaly', 'metering'] as const;

const Sent = z.object({ sent: z.int() });

/** Steps that break what consumes events, or what is consumed. */
export const SPINE_STEPS: readonly ChaosStep[] = [
  {
    text: 'The audit consumer is broken, its dead letters fill, it is mended, and they are redriven.',
    run: async (context) => {
      const { operator, report } = context;
      const before = await operator.dlqDepth('audit');
      const wellBefore = report(
        'there is no dead letter at the beginning',
        before === 0 ? [] : [`audit-dlq holds ${before}`],
      );
      await operator.call('POST', '/api/chaos/consumer', { consumer: 'audit', broken: true, seconds: 60 });
      const changes = await makeChanges(context, 5);
      const filled = await within(DEAD_WITHIN_S, async () => (await operator.dlqDepth('audit')) >= changes.records);
      const wellFilled = report(
        `${changes.records} records are dead letters within ${DEAD_WITHIN_S} s`,
        filled === undefined ? [`audit-dlq holds ${await operator.dlqDepth('audit')}`] : [],
      );
      const reasons = new Set((await operator.deadLetters('audit')).map((letter) => letter.reason));
      const wellReason = report(
        'each says why',
        reasons.has(null) || reasons.size === 0 ? [`reasons: ${[...reasons].join(', ')}`] : [],
      );
      const early = await changes.held();
      const wellEarly = report('none of them is in the audit log yet', early === 0 ? [] : [`${early} are`]);
      await operator.call('POST', '/api/chaos/consumer', { consumer: 'audit', broken: false });
      const { moved, left } = await operator.redrive('audit');
      const wellMoved = report(
        `a redrive moves them: ${moved} moved, ${left} left`,
        moved >= changes.records ? [] : ['it moved too few'],
      );
      await within(
        15,
        async () => (await operator.dlqDepth('audit')) === 0 && (await changes.held()) === changes.records,
      );
      const wellLog = report(`each of ${changes.records} records is in the log exactly once`, await changes.faults());
      const depth = await operator.dlqDepth('audit');
      return (
        report('no dead letter is left', depth === 0 ? [] : [`audit-dlq holds ${depth}`]) &&
        wellBefore &&
        wellFilled &&
        wellReason &&
        wellEarly &&
        wellMoved &&
        wellLog
      );
    },
  },
  {
    text: 'Hostile messages of every kind are sent to three queues, redriven, and discarded.',
    run: async (context) => {
      const { operator, report } = context;
      for (const queue of POISONED) {
        const { sent } = Sent.parse(await operator.call('POST', '/api/chaos/poison', { queue, count: POISON }));
        if (sent !== POISON) return report(`poison is sent to ${queue}`, [`${sent} of ${POISON} were taken`]);
      }
      const wellDead = await poisonReturns(context, 'they are dead letters');
      const nameless = (await Promise.all(POISONED.map((queue) => operator.deadLetters(queue))))
        .flat()
        .filter((letter) => letter.reason === null);
      const wellReason = report(
        'each says why',
        nameless.length === 0 ? [] : [`${nameless.length} do not, for instance ${nameless[0]?.message_id}`],
      );
      for (const queue of POISONED) await operator.redrive(queue);
      const wellAgain = await poisonReturns(context, 'after a redrive they return');
      for (const queue of POISONED) {
        const ids = (await operator.deadLetters(queue))
          .filter((letter) => letter.attributes['poison'] !== undefined)
          .map((letter) => letter.message_id);
        if (ids.length > 0) await operator.call('POST', `/api/dlqs/${queue}/discard`, { message_ids: ids });
      }
      const left = await Promise.all(POISONED.map((queue) => operator.dlqDepth(queue)));
      return (
        report('they can be discarded', left.every((depth) => depth === 0) ? [] : [`left: ${left.join(', ')}`]) &&
        wellDead &&
        wellReason &&
        wellAgain
      );
    },
  },
];

/** Whether good records pass the poison, and the poison ends among the dead letters. */
async function poisonReturns({ operator, report }: ChaosContext, when: string): Promise<boolean> {
  const changes = await makeChanges({ operator }, 2);
  const passed = await within(10, async () => (await changes.held()) === changes.records);
  const wellPassed = report('good records pass them', passed === undefined ? await changes.faults() : []);
  const dead = await within(DEAD_WITHIN_S, async () =>
    (await Promise.all(POISONED.map((queue) => operator.dlqDepth(queue)))).every((depth) => depth >= POISON),
  );
  const depths = await Promise.all(POISONED.map((queue) => operator.dlqDepth(queue)));
  return (
    report(
      `${when} within ${DEAD_WITHIN_S} s, ${POISON} in each queue`,
      dead === undefined || depths.some((depth) => depth !== POISON) ? [`depths: ${depths.join(', ')}`] : [],
    ) && wellPassed
  );
}
