import { readPlan } from './terraform-plan.ts';

const plan = (...changes: object[]): string => JSON.stringify({ resource_changes: changes });
const update = (address: string, before: object, after: object): object => ({
  address,
  change: { actions: ['update'], before, after },
});

describe('a plan of Terraform', () => {
  it('without changes is empty, whatever resources it lists', () => {
    expect(
      readPlan(
        plan(
          { address: 'a', change: { actions: ['no-op'], before: {}, after: {} } },
          { address: 'b', change: { actions: ['read'], before: null, after: {} } },
        ),
      ),
    ).toEqual({ changes: [], rewritten: 0 });
    expect(readPlan('{}')).toEqual({ changes: [], rewritten: 0 });
  });

  it('shows each attribute that differs, and nothing of those that do not', () => {
    const { changes } = readPlan(
      plan(
        update(
          'q',
          { name: 'q', redrive_policy: '{"maxReceiveCount":3,"a":1}' },
          { name: 'q', redrive_policy: '{"maxReceiveCount":5,"a":1}' },
        ),
      ),
    );
    expect(changes).toEqual([
      {
        address: 'q',
        actions: 'update',
        attributes: ['redrive_policy: {"a":"1","maxReceiveCount":"3"} → {"a":"1","maxReceiveCount":"5"}'],
      },
    ]);
  });

  it('counts JSON that is only written differently apart', () => {
    expect(readPlan(plan(update('q', { policy: '{"a": 1, "b": "2"}' }, { policy: '{"b":"2","a":1}' })))).toEqual({
      changes: [],
      rewritten: 1,
    });
  });

  it('shows what is made, replaced and destroyed', () => {
    const { changes } = readPlan(
      plan(
        { address: 'n', change: { actions: ['create'], before: null, after: { name: 'n' } } },
        { address: 'd', change: { actions: ['delete', 'create'], before: { name: 'd' }, after: { name: 'e' } } },
      ),
    );
    expect(changes.map(({ address, actions }) => [address, actions])).toEqual([
      ['n', 'create'],
      ['d', 'delete+create'],
    ]);
  });
});
