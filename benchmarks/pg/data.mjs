import { createRandom } from '../random.mjs';

const clusters = 300;

/** Returns vectors in 300 clusters, like embeddings of texts. They are the same in every run. */
export function createVectors(count, dimension, seed) {
  const centerRandom = createRandom(99);
  const centers = Array.from({ length: clusters }, () =>
    Float32Array.from({ length: dimension }, () => centerRandom() - 0.5),
  );
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const center = centers[Math.floor(random() * clusters)];
    return Array.from(Float32Array.from(center, (value) => value + 0.8 * (random() - 0.5)));
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
