import { useMutation } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { Badge, formatDuration } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';

/** The spine's queues with what waits and what is dead-lettered. */
export function Queues({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const redrive = useMutation({ mutationFn: api.redrive });
  return (
    <section className="panel scroll-x" aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      {picture.queues === null ? (
        <p className="muted">The spine does not answer. Events wait on the gateways' disks.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">queue</th>
              <th scope="col">consumer</th>
              <th scope="col" className="num">
                waiting
              </th>
              <th scope="col">dead letters</th>
            </tr>
          </thead>
          <tbody>
            {picture.queues.map((queue) => (
              <tr key={queue.queue}>
                <td>{queue.queue}</td>
                <td className="muted">{queue.consumer ?? 'the tenant'}</td>
                <td className="num">{queue.waiting + queue.in_flight}</td>
                <td>
                  {queue.depth === 0 ? (
                    <span className="muted">none</span>
                  ) : (
                    <>
                      <Badge tone="bad">{queue.depth}</Badge>{' '}
                      {queue.oldest_age_s !== null && <span className="muted">oldest {formatDuration(queue.oldest_age_s * 1000)} </span>}
                      <button type="button" disabled={redrive.isPending} onClick={() => redrive.mutate(queue.queue)}>
                        Redrive
                      </button>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {redrive.isError && (
        <p className="notice bad" role="alert">
          {redrive.error.message}
        </p>
      )}
    </section>
  );
}
