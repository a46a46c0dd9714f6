import { createRandom } from '../random.mjs';

/** Of each number, compared with that of the centres: two vectors of a cluster have a cosine similarity of about 0.8. */
const spread = 0.5;

/** Vectors in clusters, one after the other, the same in every run. */
export function clusteredVectors(count, dimension, clusterSize = 20) {
  const normal = normalNumbers(1);
  const vectors = new Float32Array(count * dimension);
  const centre = new Float32Array(dimension);
  for (let row = 0; row < count; row += 1) {
    if (row % clusterSize === 0) for (let place = 0; place < dimension; place += 1) centre[place] = normal();
    for (let place = 0; place < dimension; place += 1) {
      vectors[row * dimension + place] = centre[place] + spread * normal();
    }
  }
  return vectors;
}

/** By the Box–Muller transform. */
function normalNumbers(seed) {
  const uniform = createRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
