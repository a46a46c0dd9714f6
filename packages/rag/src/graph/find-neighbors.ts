import { blockRows, FixedPointRows, pitch } from '../simd/fixed-point-rows.js';
import { dot } from '../vectors/vector-table.js';
import type { Edge } from './adjacency.js';

/** Vectors of any length, compared by their directions. */
export class UnitRows {
  readonly vectors: readonly Float32Array[];
  readonly dimension: number;
  /** Factor that gives each row length 1; 0 for a row without direction. */
  readonly factors: Float64Array;
  /** 64 bits of each row that equal vectors share, and different ones only by accident. Equal on every machine. */
  readonly fingerprints: BigUint64Array;
  /** First row with the same vector as each row. */
  readonly twins: Uint32Array;

  constructor(vectors: readonly Float32Array[], dimension: number) {
    this.vectors = vectors;
    this.dimension = dimension;
    this.factors = Float64Array.from(vectors, (vector) => {
      const length = Math.sqrt(dot(vector, 0, vector, dimension));
      return length === 0 ? 0 : 1 / length;
    });
    this.fingerprints = BigUint64Array.from(vectors, fingerprint);
    const firsts = new Map<bigint, number>();
    this.twins = Uint32Array.from(this.fingerprints, (print, row) => {
      const first = firsts.get(print) ?? row;
      firsts.set(print, first);
      return first;
    });
  }

  /** Returns the cosine similarity as a 32-bit number in [-1, 1]; 0 without direction. */
  similarity(row: number, other: number): number {
    const { vectors, factors } = this;
    const product = dot(vectors[row] as Float32Array, 0, vectors[other] as Float32Array, this.dimension);
    const cosine = product * ((factors[row] as number) * (factors[other] as number));
    return Math.max(-1, Math.min(1, Math.fround(cosine)));
  }
}

function fingerprint(vector: Float32Array): bigint {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  for (let place = 0; place < bits.length; place += 1) {
    const value = bits[place] as number;
    low = Math.imul(low ^ value, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ value, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** The best other rows of each row, best first; equal ones by row number. */
export interface NeighborLists<Scores extends Float32Array | Int32Array = Float32Array> {
  /** Most neighbors of a row. */
  readonly limit: number;
  readonly counts: Uint32Array;
  /** Neighbors of row `r` from `r * limit` on. */
  readonly rows: Uint32Array;
  readonly scores: Scores;
}

function createNeighborLists(count: number, limit: number): NeighborLists {
  return {
    limit,
    counts: new Uint32Array(count),
    rows: new Uint32Array(count * limit),
    scores: new Float32Array(count * limit),
  };
}

/** Inserts a neighbor at its position, unless the list is full of better ones. Call it once per neighbor. */
function offerNeighbor(
  { limit, counts, rows, scores }: NeighborLists<Float32Array | Int32Array>,
  row: number,
  neighbor: number,
  score: number,
): void {
  const start = row * limit;
  const count = counts[row] as number;
  let at = start + count;
  if (count === limit) {
    at -= 1;
    const worst = scores[at] as number;
    if (worst > score || (worst === score && (rows[at] as number) < neighbor)) return;
  } else counts[row] = count + 1;
  for (; at > start; at -= 1) {
    const [other, otherScore] = [rows[at - 1] as number, scores[at - 1] as number];
    if (otherScore > score || (otherScore === score && other < neighbor)) break;
    rows[at] = other;
    scores[at] = otherScore;
  }
  rows[at] = neighbor;
  scores[at] = score;
}

/**
 * Returns the edges between each row and its neighbors. Two rows that are neighbors of each other have one edge.
 *
 * @param kind - of the edges. Default `similarity`
 */
export function similarityEdges({ limit, counts, rows, scores }: NeighborLists, kind = 'similarity'): Edge[] {
  const has = (row: number, neighbor: number): boolean =>
    rows.subarray(row * limit, row * limit + (counts[row] as number)).includes(neighbor);
  return Array.from(counts, (count, from) => {
    const own = Array.from(rows.subarray(from * limit, from * limit + count), (to, place): Edge => {
      return { from, to, weight: scores[from * limit + place] as number, kind, reason: undefined };
    });
    return own.filter(({ to }) => from < to || !has(to, from));
  }).flat();
}

export interface NeighborSearch {
  readonly units: UnitRows;
  /** Most neighbors of a row. */
  readonly limit: number;
  /** Neighbors are more similar than this number, which is not negative. */
  readonly threshold: number;
}

/** Candidates in addition to the neighbors: rounding may have changed their order. */
const spareCandidates = 6;
/** Multiplications between two steps: a few milliseconds. */
const productsPerStep = 2 ** 28;

/**
 * Finds the most similar other rows of each row, exactly. Yields the share of the work that is done. All pairs are compared as integers first,
 * and as floats where rounding could matter.
 */
export function* findNeighbors({ units, limit, threshold }: NeighborSearch): Generator<number, NeighborLists> {
  const { vectors, factors, dimension } = units;
  const count = vectors.length;
  const integers = new FixedPointRows(count, dimension);
  for (const [row, vector] of vectors.entries()) integers.write(row, vector, factors[row] as number);
  const lists = createNeighborLists(count, limit);
  const capacity = limit + spareCandidates;
  const candidates = { ...createNeighborLists(count, capacity), scores: new Int32Array(count * capacity) };
  /** Smallest product of each row that can still be a candidate. Nothing is similar to a row without direction. */
  const smallest = integers.smallestProduct(threshold);
  const cuts = Int32Array.from(factors, (factor) => (factor === 0 ? 2 ** 31 - 1 : smallest));
  const offer = (row: number, other: number, product: number): void => {
    offerNeighbor(candidates, row, other, product);
    if (candidates.counts[row] === capacity) cuts[row] = candidates.scores[(row + 1) * capacity - 1] as number;
  };
  let [done, step] = [0, 0];
  for (let a = 0; a < count; a += blockRows) {
    const aRows = Math.min(blockRows, count - a);
    for (let b = a; b < count; b += blockRows) {
      const bRows = Math.min(blockRows, count - b);
      const products = integers.multiply(a, aRows, b, bRows);
      for (let i = 0; i < aRows; i += 1) {
        const row = a + i;
        const line = i * pitch(bRows) - b;
        for (let other = a === b ? row + 1 : b; other < b + bRows; other += 1) {
          const product = products[line + other] as number;
          if (product >= (cuts[row] as number)) offer(row, other, product);
          if (product >= (cuts[other] as number)) offer(other, row, product);
        }
      }
      done += aRows * bRows;
      step += aRows * bRows * dimension;
      if (step > productsPerStep) {
        step = 0;
        yield (2 * done) / (count * (count + blockRows));
      }
    }
  }

  const rank = (row: number, others: ArrayLike<number> & Iterable<number>): void => {
    lists.counts[row] = 0;
    // More candidates than usual are often equal vectors.
    const known = others.length > capacity ? new Map<number, number>() : undefined;
    for (const other of others) {
      const twin = units.twins[other] as number;
      const similarity = known?.get(twin) ?? units.similarity(row, other);
      known?.set(twin, similarity);
      if (similarity > threshold) offerNeighbor(lists, row, other, similarity);
    }
  };
  /** Returns the similarity that a row must have at least to enter the list. */
  const worstWanted = (row: number): number =>
    lists.counts[row] === limit ? (lists.scores[(row + 1) * limit - 1] as number) : threshold;

  const rowsPerStep = Math.ceil(productsPerStep / 16 / (limit * dimension));
  const unsettled: number[] = [];
  for (let row = 0; row < count; row += 1) {
    const found = candidates.counts[row] as number;
    rank(row, candidates.rows.subarray(row * capacity, row * capacity + found));
    // Something outside of the candidates could belong to the list.
    if (found === capacity && worstWanted(row) <= integers.largestSimilarity(cuts[row] as number)) unsettled.push(row);
    if (row % rowsPerStep === rowsPerStep - 1) yield 0;
  }
  for (let start = 0; start < unsettled.length; start += blockRows) {
    const block = Uint32Array.from(unsettled.slice(start, start + blockRows));
    const wanted = Array.from(block, (row) => integers.smallestProduct(worstWanted(row)));
    const found = Array.from(block, (): number[] => []);
    integers.gather(block);
    for (let b = 0; b < count; b += blockRows) {
      const bRows = Math.min(blockRows, count - b);
      const products = integers.multiply('gathered', block.length, b, bRows);
      for (const [i, row] of block.entries()) {
        for (let j = 0; j < bRows; j += 1) {
          if (b + j !== row && (products[i * pitch(bRows) + j] as number) >= wanted[i]!) found[i]!.push(b + j);
        }
      }
    }
    for (const [i, row] of block.entries()) rank(row, found[i]!);
    yield 0;
  }
  return lists;
}

/** Neighbors of each vector, from an earlier search with the same limit and threshold. */
export interface SearchedNeighbors {
  readonly ids: readonly string[];
  readonly fingerprints: BigUint64Array;
  readonly lists: NeighborLists;
}

/** With more unknown rows, and this share of all rows, a search of all pairs is as fast. */
const [fewUnknown, maxUnknownShare] = [16, 0.02];

/**
 * Finds the same as {@link findNeighbors} where few rows changed since an earlier search. A list is unknown when its row is new or changed, and when it
 * was full and lost a neighbor, because another one may take its place.
 *
 * @returns `undefined` where too many rows changed
 */
export function* updateNeighbors(
  { units, limit, threshold }: NeighborSearch,
  ids: readonly string[],
  previous: SearchedNeighbors,
): Generator<number, NeighborLists | undefined> {
  const { fingerprints, vectors } = units;
  const numbers = new Map(ids.map((id, row) => [id, row]));
  /** Current rows of the earlier ones; `undefined` for changed and removed ones. */
  const rowOf = previous.ids.map((id, old) => {
    const row = numbers.get(id);
    return row !== undefined && previous.fingerprints[old] === fingerprints[row] ? row : undefined;
  });
  const lists = createNeighborLists(ids.length, limit);
  const added = new Set(ids.keys());
  const unknown = new Set(added);
  for (const [old, row] of rowOf.entries()) {
    if (row === undefined) continue;
    const { counts, rows, scores } = previous.lists;
    const count = counts[old] as number;
    for (let place = old * limit; place < old * limit + count; place += 1) {
      const neighbor = rowOf[rows[place] as number];
      if (neighbor !== undefined) offerNeighbor(lists, row, neighbor, scores[place] as number);
    }
    added.delete(row);
    if (lists.counts[row] === count || count < limit) unknown.delete(row);
  }
  if (unknown.size > fewUnknown + ids.length * maxUnknownShare) return undefined;
  for (const row of unknown) lists.counts[row] = 0;
  for (const row of unknown) {
    yield 0;
    for (let other = 0; other < vectors.length; other += 1) {
      const similarity = other === row ? 0 : units.similarity(row, other);
      if (similarity <= threshold) continue;
      offerNeighbor(lists, row, other, similarity);
      if (added.has(row) && !unknown.has(other)) offerNeighbor(lists, other, row, similarity);
    }
  }
  return lists;
}
