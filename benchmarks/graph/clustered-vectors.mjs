import { createRandom } from '../random.mjs';

/** Spread of each number around the center: two vectors of a cluster have a cosine similarity of about 0.8. */
const spread = 0.5;

/** Returns vectors ordered by cluster. They are the same in every run. */
export function clusteredVectors(count, dimension, clusterSize = 20) {
  const normal = normalNumbers(1);
  const vectors = new Float32Array(count * dimension);
  const center = new Float32Array(dimension);
  for (let row = 0; row < count; row += 1) {
    if (row % clusterSize === 0) for (let place = 0; place < dimension; place += 1) center[place] = normal();
    for (let place = 0; place < dimension; place += 1) {
      vectors[row * dimension + place] = center[place] + spread * normal();
    }
  }
  return vectors;
}

/** Returns a normally distributed number (Box–Muller transform). */
function normalNumbers(seed) {
  const uniform = createRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
