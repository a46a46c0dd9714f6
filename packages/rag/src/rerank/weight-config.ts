import { QuiverError } from '@quiver/core';

/** How much each part counts. */
export interface WeightConfig {
  /** What the model says. Default 0.4. */
  semantic?: number;
  /** The score of the search. Default 0.4. */
  vector?: number;
  /** The place in the results of the search. Default 0.2. */
  position?: number;
}

const defaults: Required<WeightConfig> = { semantic: 0.4, vector: 0.4, position: 0.2 };

/** Missing weights are the defaults; then all are divided by their sum. @throws `RERANK_WEIGHTS_INVALID` */
export function toWeights(weights: WeightConfig = {}): Required<WeightConfig> {
  const all = { ...defaults };
  for (const [name, value] of Object.entries(weights)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaults, name) || typeof value !== 'number' || !(value >= 0) || value === Infinity) {
      throw new QuiverError(
        'RERANK_WEIGHTS_INVALID',
        `The weight ${name} = ${String(value)} is not valid; weights are semantic, vector and position, numbers of at least 0.`,
      );
    }
    all[name as keyof WeightConfig] = value;
  }
  const sum = all.semantic + all.vector + all.position;
  if (sum === 0) throw new QuiverError('RERANK_WEIGHTS_INVALID', 'At least one weight must be greater than 0.');
  return { semantic: all.semantic / sum, vector: all.vector / sum, position: all.position / sum };
}
