import { unknownModelAnomaly } from '../report/upstream-anomalies.ts';
import { createUnknownModels, type UnknownModel } from './unknown-models.ts';

const MET: UnknownModel = { provider: 'primary', model: 'sim-small', providerModel: 'gpt-gone', requestId: 'req_1' };

describe('a model that a provider does not know', () => {
  it('is told once, and again after ten minutes; each mapping for itself', () => {
    let now = 0;
    const told: UnknownModel[] = [];
    const note = createUnknownModels({ clock: { monotonic: () => now } }, (unknown) => told.push(unknown));
    for (const unknown of [MET, MET, { ...MET, providerModel: 'other' }, { ...MET, provider: 'second' }]) note(unknown);
    expect(told).toHaveLength(3);
    now = 599_999;
    note(MET);
    expect(told).toHaveLength(3);
    now = 600_000;
    note(MET);
    expect(told).toHaveLength(4);
  });

  it('is an anomaly that names the mapping and what to do', () => {
    expect(unknownModelAnomaly(MET)).toMatchObject({
      type: 'provider.model_unknown',
      subject: 'primary/sim-small',
      message: expect.stringMatching(/gpt-gone.*catalogue/) as string,
      samples: ['req_1'],
    });
  });
});
