import { createRandom } from '../random.mjs';

/** Returns unit vectors in clusters of about 100, like embeddings of chunks, and queries near some of them. */
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
  const centers = Array.from({ length: Math.ceil(count / 100) }, () => around(undefined, 1));
  const vectors = Array.from({ length: count }, (_, row) => around(centers[row % centers.length], 0.15));
  return { vectors, queries: Array.from({ length: queries }, (_, row) => around(vectors[row * 7919], 0.05)) };
}

/** Returns the rows with the `topK` largest dot products in double precision. Ties are ordered by row. */
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

/**
 * Returns texts of 40 to 80 words with the word frequencies of natural language (Zipf), and queries of four words: words with the
 * frequencies of the texts (`mixed`), and words that occur in at least 10 % of the texts, in 0.3 to 1 %, or in at most 5 texts.
 */
export function createTexts(count, queries) {
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
  const texts = Array.from({ length: count }, () => text(40 + Math.floor(random() * 40)));
  const mixed = Array.from({ length: queries }, () => text(4));
  const frequencies = new Map();
  for (const own of texts)
    for (const term of new Set(own.split(' '))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const queriesOf = (fewest, most) => {
    const terms = [...frequencies].filter(([, texts]) => texts >= fewest && texts <= most).map(([term]) => term);
    return Array.from({ length: queries }, () =>
      Array.from({ length: 4 }, () => terms[Math.floor(random() * terms.length)]).join(' '),
    );
  };
  return {
    texts,
    questions: {
      mixed,
      frequent: queriesOf(count / 10, count),
      medium: queriesOf(count * 0.003, count / 100),
      rare: queriesOf(1, 5),
    },
  };
}
