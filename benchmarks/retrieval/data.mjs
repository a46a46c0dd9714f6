import { createRandom } from '../random.mjs';

/** Unit vectors in clusters of about 100, as embeddings of passages are, and queries near some of them. */
export function createVectors(count, dimension, queries) {
  const random = createRandom(1);
  const around = (centre, spread) => {
    const vector = Float32Array.from(
      { length: dimension },
      (_, place) => (centre?.[place] ?? 0) + spread * (random() - 0.5),
    );
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector.map((value) => value / length);
  };
  const centres = Array.from({ length: Math.ceil(count / 100) }, () => around(undefined, 1));
  const vectors = Array.from({ length: count }, (_, row) => around(centres[row % centres.length], 0.15));
  return { vectors, queries: Array.from({ length: queries }, (_, row) => around(vectors[row * 7919], 0.05)) };
}

/** Rows of the `topK` largest dot products, in double precision; equal ones by row. */
export function nearestByHand(vectors, query, topK, part) {
  const scored = [];
  for (const [row, vector] of vectors.entries()) {
    if (part !== undefined && row % 100 !== part) continue;
    let product = 0;
    for (let place = 0; place < vector.length; place += 1) product += vector[place] * query[place];
    scored.push({ row, product });
  }
  return scored
    .sort((a, b) => b.product - a.product || a.row - b.row)
    .slice(0, topK)
    .map(({ row }) => row);
}

/** Texts of 40 to 80 words, whose frequencies fall as those of a language do (Zipf), and questions of four words. */
export function createTexts(count, questions) {
  const random = createRandom(2);
  const syllables = ['ka', 'lo', 'mi', 'ren', 'tas', 'vu', 'pel', 'dor', 'sin', 'gra', 'be', 'no'];
  const word = (rank) => {
    let name = '';
    for (let rest = rank + 12; rest > 0; rest = Math.floor(rest / syllables.length))
      name += syllables[rest % syllables.length];
    return name;
  };
  const vocabulary = Array.from({ length: 30_000 }, (_, rank) => word(rank));
  const draw = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? vocabulary[0];
  const text = (words) => Array.from({ length: words }, draw).join(' ');
  return {
    texts: Array.from({ length: count }, () => text(40 + Math.floor(random() * 40))),
    questions: Array.from({ length: questions }, () => text(4)),
  };
}
