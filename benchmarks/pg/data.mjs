import { createRandom } from '../random.mjs';

const clusters = 300;

/** Vectors around some hundred centres, as embeddings of texts are; the same at each run. */
export function createVectors(count, dimension, seed) {
  const centreRandom = createRandom(99);
  const centres = Array.from({ length: clusters }, () =>
    Float32Array.from({ length: dimension }, () => centreRandom() - 0.5),
  );
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * clusters)];
    return Array.from(Float32Array.from(centre, (value) => value + 0.8 * (random() - 0.5)));
  });
}

export function metadataOf(n) {
  return {
    n,
    tenth: n % 10,
    hundredth: Math.floor(n / 7) % 100,
    thousandth: (n * 7) % 1000,
    text: `Passage ${n} about the topic ${n % 300} and others.`,
  };
}
