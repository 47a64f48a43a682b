import type { Attack } from '../attacks/attack.ts';
import { makeAttackTenants } from '../attacks/attack-tenants.ts';
import { ATTACKS } from '../attacks/attacks.ts';
import { runAttack, VERDICT_HEAD, verdictRow, type Neighbour } from '../attacks/run-attack.ts';
import { table } from '../stack/welcome.ts';
import type { ChaosContext, ChaosStep } from './chaos-step.ts';

const ATTACK_S = 8;
const CALM_S = 3;

/**
 * Two tenants that exist for it attack beside acme and globex, who must not notice.
 *
 * @returns true when nothing of it reached them and the attackers met what they had to meet.
 */
export async function attackBeside(
  context: Pick<ChaosContext, 'operator' | 'stack' | 'report'>,
  attack: Attack,
  seconds = ATTACK_S,
): Promise<boolean> {
  const { stack, report } = context;
  const neighbours: Neighbour[] = [
    { tenant: 'acme', key: stack.keys['acme-prod'] ?? '', perSecond: 8 },
    { tenant: 'globex', key: stack.keys['globex-prod'] ?? '', perSecond: 6 },
  ];
  const tenants = await makeAttackTenants(context, attack.name);
  try {
    const target = { url: stack.services.gateway.url, attackers: tenants.attackers, seconds, scale: 1 };
    const verdict = await runAttack(attack, target, neighbours, CALM_S);
    for (const line of table([[...VERDICT_HEAD], verdictRow(verdict)])) console.log(`     ${line}`);
    return report(
      'the neighbours were served: nothing refused, nothing failed, no wait for capacity',
      verdict.complaints,
    );
  } finally {
    await tenants.remove();
  }
}

/** Every attack of the list, whole. */
export const ATTACK_STEPS: readonly ChaosStep[] = ATTACKS.map((attack) => ({
  text: attack.text,
  run: (context) => attackBeside(context, attack),
}));
