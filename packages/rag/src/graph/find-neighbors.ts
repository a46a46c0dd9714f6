import { blockRows, FixedPointRows, pitch } from '../simd/fixed-point-rows.js';
import type { Edge } from './adjacency.js';
import type { UnitRows } from './unit-rows.js';

/** The best other rows of each row, best first; equal ones by row number. */
export interface NeighborLists<Scores extends Float32Array | Int32Array = Float32Array> {
  /** Most neighbors of a row. */
  readonly limit: number;
  /** Number of neighbors of each row. */
  readonly counts: Uint32Array;
  /** Neighbors of row `r` from `r * limit` on. */
  readonly rows: Uint32Array;
  /** Similarities of the neighbors. */
  readonly scores: Scores;
}

export function createNeighborLists(count: number, limit: number): NeighborLists {
  return {
    limit,
    counts: new Uint32Array(count),
    rows: new Uint32Array(count * limit),
    scores: new Float32Array(count * limit),
  };
}

/** Inserts a neighbor at its position, unless the list is full of better ones. Call it once per neighbor. */
export function offerNeighbor(
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
  /** Neighbors of rows that did not change. */
  readonly known?: KnownNeighbors | undefined;
}

export interface KnownNeighbors {
  readonly lists: NeighborLists;
  /** Rows whose lists are not known. */
  readonly unknown: Uint32Array;
  /** By row: 1 for rows that the known lists cannot contain yet. */
  readonly isNew: Uint8Array;
}

/** Above this share of unknown rows a search of all pairs is as fast. */
const maxUnknownShare = 0.3;
/** Candidates in addition to the neighbors: rounding may have changed their order. */
const spareCandidates = 6;
/** Multiplications between two steps: a few milliseconds. */
const productsPerStep = 2 ** 28;

/** Finds the most similar other rows of each row, exactly. Yields the share of the work that is done. */
export function* findNeighbors(search: NeighborSearch): Generator<number, NeighborLists> {
  const { units, known } = search;
  const finder = new NeighborFinder(search);
  if (known && known.unknown.length <= units.vectors.length * maxUnknownShare) yield* finder.extend(known);
  else yield* finder.compareAll();
  return finder.lists;
}

/** The best candidates of some rows by their integer products. */
interface Candidates extends NeighborLists<Int32Array> {
  /** Smallest product of each row that can still be a candidate. */
  readonly cuts: Int32Array;
}

function offerCandidate(candidates: Candidates, place: number, other: number, product: number): void {
  const { limit, counts, scores, cuts } = candidates;
  offerNeighbor(candidates, place, other, product);
  if (counts[place] === limit) cuts[place] = scores[(place + 1) * limit - 1] as number;
}

/** Sees the integer product of a row, by its place in a list of rows, and another row. */
type Visit = (place: number, other: number, product: number) => void;

/** Compares rows as integers first, and as floats where rounding could matter. */
class NeighborFinder {
  readonly lists: NeighborLists;
  readonly #search: NeighborSearch;
  readonly #rows: FixedPointRows;
  readonly #count: number;

  constructor(search: NeighborSearch) {
    const { vectors, factors, dimension } = search.units;
    this.#search = search;
    this.#count = vectors.length;
    this.#rows = new FixedPointRows(this.#count, dimension);
    for (const [row, vector] of vectors.entries()) this.#rows.write(row, vector, factors[row] as number);
    this.lists = createNeighborLists(this.#count, search.limit);
  }

  /** Compares all rows with each other, each pair once. */
  *compareAll(): Generator<number, void> {
    const count = this.#count;
    const all = Uint32Array.from({ length: count }, (_, row) => row);
    const candidates = this.#createCandidates(all);
    const { cuts } = candidates;
    let [done, step] = [0, 0];
    for (let a = 0; a < count; a += blockRows) {
      const aRows = Math.min(blockRows, count - a);
      for (let b = a; b < count; b += blockRows) {
        const bRows = Math.min(blockRows, count - b);
        const products = this.#rows.multiply(a, aRows, b, bRows);
        for (let i = 0; i < aRows; i += 1) {
          const row = a + i;
          const line = i * pitch(bRows) - b;
          for (let other = a === b ? row + 1 : b; other < b + bRows; other += 1) {
            const product = products[line + other] as number;
            if (product >= (cuts[row] as number)) offerCandidate(candidates, row, other, product);
            if (product >= (cuts[other] as number)) offerCandidate(candidates, other, row, product);
          }
        }
        done += aRows * bRows;
        step += aRows * bRows * this.#search.units.dimension;
        if (step > productsPerStep) {
          step = 0;
          yield (2 * done) / (count * (count + blockRows));
        }
      }
    }
    yield* this.#settle(candidates, all);
  }

  /** Compares the unknown rows with all rows, and offers new rows to the known lists. */
  *extend({ lists: { counts, rows, scores }, unknown, isNew }: KnownNeighbors): Generator<number, void> {
    const { units, threshold } = this.#search;
    this.lists.counts.set(counts);
    this.lists.rows.set(rows);
    this.lists.scores.set(scores);
    const isUnknown = new Set(unknown);
    const cuts = Int32Array.from(counts, (_, row) => this.#rows.smallestProduct(this.#worstWanted(row)));
    const candidates = this.#createCandidates(unknown);
    yield* this.#compare(unknown, (place, other, product) => {
      if (product >= (candidates.cuts[place] as number)) offerCandidate(candidates, place, other, product);
      const row = unknown[place] as number;
      if (!isNew[row] || product < (cuts[other] as number) || isUnknown.has(other)) return;
      const similarity = units.similarity(other, row);
      if (similarity > threshold) offerNeighbor(this.lists, other, row, similarity);
    });
    yield* this.#settle(candidates, unknown);
  }

  #createCandidates(some: Uint32Array): Candidates {
    const { units, limit, threshold } = this.#search;
    const capacity = limit + spareCandidates;
    const cut = this.#rows.smallestProduct(threshold);
    return {
      ...createNeighborLists(some.length, capacity),
      scores: new Int32Array(some.length * capacity),
      // Nothing is similar to a row without direction.
      cuts: Int32Array.from(some, (row) => (units.factors[row] === 0 ? 2 ** 31 - 1 : cut)),
    };
  }

  /** Compares some rows with all. */
  *#compare(some: Uint32Array, visit: Visit): Generator<number, void> {
    const count = this.#count;
    let step = 0;
    for (let start = 0; start < some.length; start += blockRows) {
      const block = some.subarray(start, start + blockRows);
      this.#rows.gather(block);
      for (let b = 0; b < count; b += blockRows) {
        const bRows = Math.min(blockRows, count - b);
        const products = this.#rows.multiply('gathered', block.length, b, bRows);
        for (let i = 0; i < block.length; i += 1) {
          const row = block[i] as number;
          for (let j = 0; j < bRows; j += 1) {
            if (b + j !== row) visit(start + i, b + j, products[i * pitch(bRows) + j] as number);
          }
        }
        step += block.length * bRows * this.#search.units.dimension;
        if (step > productsPerStep) {
          step = 0;
          yield (start + (block.length * b) / count) / some.length;
        }
      }
    }
  }

  /**
   * Fills the lists of rows from their candidates. A row where something outside the candidates could belong to the list is
   * compared again: with all rows as integers, and exactly with those that can enter the list.
   */
  *#settle({ limit, counts, rows, cuts }: Candidates, some: Uint32Array): Generator<number, void> {
    const rowsPerStep = Math.ceil(productsPerStep / 16 / (limit * this.#search.units.dimension));
    const unsettled: number[] = [];
    for (let place = 0; place < some.length; place += 1) {
      const row = some[place] as number;
      const count = counts[place] as number;
      this.#rank(row, rows.subarray(place * limit, place * limit + count));
      const mostOutside = this.#rows.largestSimilarity(cuts[place] as number);
      if (count === limit && this.#worstWanted(row) <= mostOutside) unsettled.push(row);
      if (place % rowsPerStep === rowsPerStep - 1) yield 0;
    }
    const again = Uint32Array.from(unsettled);
    for (let start = 0; start < again.length; start += blockRows) {
      const block = again.slice(start, start + blockRows);
      const wanted = Int32Array.from(block, (row) => this.#rows.smallestProduct(this.#worstWanted(row)));
      const found = Array.from(block, (): number[] => []);
      yield* this.#compare(block, (place, other, product) => {
        if (product >= (wanted[place] as number)) found[place]?.push(other);
      });
      block.forEach((row, place) => this.#rank(row, found[place] as number[]));
    }
  }

  /** Fills the list of a row from its candidates, by the exact similarity. */
  #rank(row: number, candidates: ArrayLike<number> & Iterable<number>): void {
    const { units, threshold, limit } = this.#search;
    this.lists.counts[row] = 0;
    if (units.factors[row] === 0) return;
    // More candidates than usual are often equal vectors.
    const known = candidates.length > limit + spareCandidates ? new Map<number, number>() : undefined;
    for (const candidate of candidates) {
      const twin = units.twins[candidate] as number;
      const similarity = known?.get(twin) ?? units.similarity(row, candidate);
      known?.set(twin, similarity);
      if (similarity > threshold) offerNeighbor(this.lists, row, candidate, similarity);
    }
  }

  /** Returns the similarity that a row must have at least to enter the list. */
  #worstWanted(row: number): number {
    const { limit, counts, scores } = this.lists;
    if (this.#search.units.factors[row] === 0) return 1;
    return counts[row] === limit ? (scores[(row + 1) * limit - 1] as number) : this.#search.threshold;
  }
}
