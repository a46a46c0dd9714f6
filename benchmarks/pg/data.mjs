const clusters = 300;

/** Vectors around some hundred centres, as embeddings of texts are; the same at each run. */
export function createVectors(count, dimension, seed) {
  const centreRandom = createRandom(99);
  const centres = Array.from({ length: clusters }, () => Float32Array.from({ length: dimension }, centreRandom));
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor((random() + 0.5) * clusters)];
    return Array.from(Float32Array.from(centre, (value) => value + 0.8 * random()));
  });
}

export function metadataOf(n) {
  return {
    n,
    tenth: n % 10,
    hundredth: Math.floor(n / 7) % 100,
    text: `Passage ${n} about the topic ${n % 300} and others.`,
  };
}

/** Numbers from -0.5 to 0.5: mulberry32. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 - 0.5;
  };
}
