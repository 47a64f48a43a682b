import { setTimeout as delay } from 'node:timers/promises';
import { makeChanges } from './audited-changes.ts';
import {
  comesBack,
  failures,
  hasPart,
  killAndAwait,
  killDatabase,
  ledgerFaults,
  pidOf,
  traffic,
  within,
  type ChaosStep,
} from './chaos-step.ts';

/** Steps that kill a process of the stack. */
export const KILL_STEPS: readonly ChaosStep[] = [
  {
    text: 'The gateway is killed (SIGKILL, by the operator API) in the middle of traffic.',
    run: async (context) => {
      const from = new Date(Date.now() - 1_000).toISOString();
      const pid = pidOf(context, 'gateway');
      const [results, back] = await Promise.all([
        traffic(context, 6),
        delay(2_000).then(async () => {
          await context.operator.call('POST', '/api/chaos/gateway', {});
          return comesBack(context, 'gateway', pid);
        }),
      ]);
      const wellBack = context.report('the supervisor starts it again', back);
      const after = await traffic(context, 2);
      const wellAfter = context.report('it serves again', failures(after, 'after the restart'));
      const all = [...results, ...after];
      return (
        context.report(
          `every one of ${all.filter((one) => one.outcome === 'ok').length} answered requests is in the ledger exactly once`,
          await ledgerFaults(context, from, all),
        ) &&
        wellBack &&
        wellAfter
      );
    },
  },
  {
    text: 'The control plane is killed (SIGKILL) in the middle of traffic, right after audited changes.',
    run: async (context) => {
      const changes = await makeChanges(context, 3);
      const [results, back] = await Promise.all([
        traffic(context, 4),
        delay(500).then(() => killAndAwait(context, 'control-plane')),
      ]);
      const served = context.report('inference does not notice', failures(results, 'meanwhile'));
      const wellBack = context.report('the supervisor starts it again', back);
      await within(15, async () => (await changes.held()) === changes.records);
      return (
        context.report(`each of ${changes.records} audit records is in the log exactly once`, await changes.faults()) &&
        served &&
        wellBack
      );
    },
  },
  {
    text: 'The spine (the SNS/SQS emulator) is killed with audit records in it, and comes back empty.',
    run: async (context) => {
      const { operator, report } = context;
      const from = new Date(Date.now() - 1_000).toISOString();
      // Records wait in its memory, because nobody takes them out.
      await operator.call('POST', '/api/chaos/consumer', { consumer: 'audit', broken: true, seconds: 30 });
      const changes = await makeChanges(context, 5);
      await delay(1_500);
      const [results, back] = await Promise.all([
        traffic(context, 4),
        delay(1_000).then(() => killAndAwait(context, 'spine')),
      ]);
      await operator.call('POST', '/api/chaos/consumer', { consumer: 'audit', broken: false });
      const served = report('inference does not notice', failures(results, 'meanwhile'));
      const wellBack = report('the supervisor starts it again', back);
      const wellLedger = report(
        `every one of ${results.length} answered requests is in the ledger exactly once`,
        await ledgerFaults(context, from, results),
      );
      context.later(async () => {
        await within(60, async () => (await changes.held()) === changes.records);
        return report(
          `each of ${changes.records} audit records that the dead spine held is in the log exactly once`,
          await changes.faults(),
        );
      });
      return served && wellBack && wellLedger;
    },
  },
  {
    text: 'The database is killed (SIGKILL) in the middle of traffic.',
    run: async (context) => {
      const { report } = context;
      if (!hasPart(context, 'database')) {
        console.log('     skipped: this stack uses a database of your own (DATABASE_URL)');
        return true;
      }
      const from = new Date(Date.now() - 1_000).toISOString();
      const [results, back] = await Promise.all([traffic(context, 5), delay(1_000).then(() => killDatabase(context))]);
      const served = report('inference does not notice', failures(results, 'meanwhile'));
      const wellBack = report('the supervisor starts it again', back);
      let changed = false;
      await within(30, async () => {
        await makeChanges(context, 1);
        return (changed = true);
      });
      const wellChange = report(
        'the operator can change things again',
        changed ? [] : ['no change was taken within 30 s'],
      );
      return (
        report(
          `every one of ${results.length} answered requests is in the ledger exactly once`,
          await ledgerFaults(context, from, results),
        ) &&
        served &&
        wellBack &&
        wellChange
      );
    },
  },
];
