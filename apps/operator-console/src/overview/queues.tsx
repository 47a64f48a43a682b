import { useMutation } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { Badge, formatDuration, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { useRefusal } from '../session/role.tsx';

/** The spine's queues with what waits and what is dead-lettered. */
export function Queues({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const redrive = useMutation({ mutationFn: api.redrive });
  const refusal = useRefusal('operator');
  return (
    <section className="panel" aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      {picture.queues === null ? (
        <p className="notice warn">The spine does not answer. Events wait on the gateways' disks.</p>
      ) : (
        <ScrollX label="Queues">
          <table>
            <thead>
              <tr>
                <th scope="col">queue</th>
                <th scope="col">read by</th>
                <th scope="col" className="num">
                  waiting
                </th>
                <th scope="col">dead letters</th>
              </tr>
            </thead>
            <tbody>
              {picture.queues.map((queue) => (
                <tr key={queue.queue} data-queue={queue.queue}>
                  <th scope="row" className="row-name">
                    {queue.queue}
                  </th>
                  <td className="muted">{queue.consumer ?? 'the tenant'}</td>
                  <td className="num">{queue.waiting + queue.in_flight}</td>
                  <td>
                    {queue.depth === 0 ? (
                      <span className="muted">none</span>
                    ) : (
                      <span className="inline">
                        <Badge tone="bad">{queue.depth}</Badge>
                        {queue.oldest_age_s !== null && (
                          <span className="muted">for {formatDuration(queue.oldest_age_s * 1000)}</span>
                        )}
                        <button
                          type="button"
                          disabled={redrive.isPending || refusal !== undefined}
                          title={refusal}
                          onClick={() => redrive.mutate(queue.queue)}
                          aria-label={`Redrive ${queue.queue}`}
                        >
                          Redrive
                        </button>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      {redrive.data !== undefined && !redrive.isError && (
        <p className="notice info" role="status">
          {redrive.data.queue}: {redrive.data.moved} moved back
          {redrive.data.refused > 0 && `, ${redrive.data.refused} not taken`}
          {redrive.data.finished ? '.' : ', more are left: press again.'} A message that fails again returns.
        </p>
      )}
      {redrive.isError && (
        <p className="notice bad" role="alert">
          {redrive.error.message}
        </p>
      )}
    </section>
  );
}
