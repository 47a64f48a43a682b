import type { Model } from '@sluice/contracts';
import type { CompiledConfig } from '../../compiled-config.ts';

/** A model as a caller named it. A pinned one has only the offers that the name allows. */
export interface NamedModel {
  readonly model: Model;
  readonly pinned: boolean;
}

/** Names beside the catalogue's own: `provider/model`, and each provider's own name for a model. */
const PINS = new WeakMap<CompiledConfig, ReadonlyMap<string, Model>>();

/** The model of that name in this configuration; the catalogue's names come first, then pins. */
export function findModel(config: CompiledConfig, name: string): NamedModel | undefined {
  const model = config.models.get(name);
  if (model !== undefined) return { model, pinned: false };
  let pins = PINS.get(config);
  if (pins === undefined) {
    pins = pinsOf(config);
    PINS.set(config, pins);
  }
  const pin = pins.get(name);
  return pin === undefined ? undefined : { model: pin, pinned: true };
}

function pinsOf(config: CompiledConfig): ReadonlyMap<string, Model> {
  const pins = new Map<string, Model>();
  const byOwnName = new Map<string, Model>();
  for (const model of config.models.values()) {
    for (const offer of model.offers) {
      const only: Model = { ...model, offers: [offer] };
      pins.set(`${offer.provider}/${offer.providerModel}`, only);
      pins.set(`${offer.provider}/${model.id}`, only);
      const known = byOwnName.get(offer.providerModel);
      if (known === undefined) byOwnName.set(offer.providerModel, only);
      else if (known.id === model.id)
        byOwnName.set(offer.providerModel, { ...model, offers: [...known.offers, offer] });
    }
  }
  for (const [name, model] of byOwnName) if (!pins.has(name)) pins.set(name, model);
  return pins;
}
