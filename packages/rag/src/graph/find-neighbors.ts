import { blockRows, FixedPointRows, pitch } from '../simd/fixed-point-rows.js';
import { CandidateHeaps } from './candidate-heaps.js';
import { createNeighborLists, offerNeighbor, type NeighborLists } from './neighbor-lists.js';
import { fingerprint, type UnitRows } from './unit-rows.js';

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
  if (known && known.unknown.length <= units.count * maxUnknownShare) yield* finder.extend(known);
  else yield* finder.compareAll();
  return finder.lists;
}

/** Sees the integer product of a row, by its place in a list of rows, and another row. */
type Visit = (place: number, other: number, product: number) => void;

/** Compares rows as integers first, and as floats where rounding could matter. */
class NeighborFinder {
  readonly lists: NeighborLists;
  readonly #search: NeighborSearch;
  readonly #rows: FixedPointRows;
  #twins: Uint32Array | undefined;

  constructor(search: NeighborSearch) {
    const { units, limit } = search;
    this.#search = search;
    this.#rows = new FixedPointRows(units.count, units.dimension);
    for (let row = 0; row < units.count; row += 1) this.#rows.write(row, units.vector(row), units.factor(row));
    this.lists = createNeighborLists(units.count, limit);
  }

  /** Compares all rows with each other, each pair once. */
  *compareAll(): Generator<number, void> {
    const { count, dimension } = this.#search.units;
    const all = Uint32Array.from({ length: count }, (_, row) => row);
    const heaps = this.#createHeaps(all);
    const { cuts } = heaps;
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
            if (product >= (cuts[row] as number)) heaps.offer(row, other, product);
            if (product >= (cuts[other] as number)) heaps.offer(other, row, product);
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
    yield* this.#settle(heaps, all);
  }

  /** Compares the unknown rows with all rows, and offers new rows to the known lists. */
  *extend({ lists: { counts, rows, similarities }, unknown, isNew }: KnownNeighbors): Generator<number, void> {
    const { units, threshold, limit } = this.#search;
    this.lists.counts.set(counts);
    this.lists.rows.set(rows);
    this.lists.similarities.set(similarities);
    const isUnknown = new Uint8Array(units.count);
    for (const row of unknown) isUnknown[row] = 1;
    const cuts = Int32Array.from(counts, (count, row) =>
      this.#rows.smallestProduct(count === limit ? (similarities[(row + 1) * limit - 1] as number) : threshold),
    );
    const heaps = this.#createHeaps(unknown);
    yield* this.#compare(unknown, (place, other, product) => {
      if (product >= (heaps.cuts[place] as number)) heaps.offer(place, other, product);
      const row = unknown[place] as number;
      if (isUnknown[other] || !isNew[row] || product < (cuts[other] as number)) return;
      const similarity = units.similarity(other, row);
      if (similarity > threshold) offerNeighbor(this.lists, other, row, similarity);
    });
    yield* this.#settle(heaps, unknown);
  }

  #createHeaps(some: Uint32Array): CandidateHeaps {
    const { units, limit, threshold } = this.#search;
    const heaps = new CandidateHeaps(some.length, limit + spareCandidates, this.#rows.smallestProduct(threshold));
    // Nothing is similar to a row without direction.
    for (let place = 0; place < some.length; place += 1) {
      if (units.factor(some[place] as number) === 0) heaps.cuts[place] = 2 ** 31 - 1;
    }
    return heaps;
  }

  /** Compares some rows with all. */
  *#compare(some: Uint32Array, visit: Visit): Generator<number, void> {
    const { count, dimension } = this.#search.units;
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
        step += block.length * bRows * dimension;
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
  *#settle(heaps: CandidateHeaps, some: Uint32Array): Generator<number, void> {
    const rowsPerStep = Math.ceil(productsPerStep / 16 / (heaps.capacity * this.#search.units.dimension));
    const unsettled: number[] = [];
    for (let place = 0; place < some.length; place += 1) {
      const row = some[place] as number;
      this.#rank(row, heaps.candidates(place));
      const mostOutside = this.#rows.largestSimilarity(heaps.cuts[place] as number);
      if (heaps.size(place) === heaps.capacity && this.#worstWanted(row) <= mostOutside) unsettled.push(row);
      if (place % rowsPerStep === rowsPerStep - 1) yield 0;
    }
    const rows = Uint32Array.from(unsettled);
    const cuts = Int32Array.from(rows, (row) => this.#rows.smallestProduct(this.#worstWanted(row)));
    for (let start = 0; start < rows.length; start += blockRows) {
      const block = rows.slice(start, start + blockRows);
      const candidates = Array.from(block, (): number[] => []);
      yield* this.#compare(block, (place, other, product) => {
        if (product >= (cuts[start + place] as number)) candidates[place]?.push(other);
      });
      block.forEach((row, place) => this.#rank(row, Uint32Array.from(candidates[place] as number[])));
    }
  }

  /** Fills the list of a row from its candidates, by the exact similarity. */
  #rank(row: number, candidates: Uint32Array): void {
    const { units, threshold, limit } = this.#search;
    this.lists.counts[row] = 0;
    if (units.factor(row) === 0) return;
    // More candidates than usual are often equal vectors.
    const twins = candidates.length > limit + spareCandidates ? this.#firstTwins() : undefined;
    const known = twins && new Map<number, number>();
    for (const candidate of candidates) {
      const twin = twins?.[candidate] ?? candidate;
      const similarity = known?.get(twin) ?? units.similarity(row, candidate);
      known?.set(twin, similarity);
      if (similarity > threshold) offerNeighbor(this.lists, row, candidate, similarity);
    }
  }

  /** Returns the first row with the same vector, for each row. */
  #firstTwins(): Uint32Array {
    if (!this.#twins) {
      const { count, vector } = this.#search.units;
      const firsts = new Map<bigint, number>();
      this.#twins = Uint32Array.from({ length: count }, (_, row) => {
        const print = fingerprint(vector(row));
        if (!firsts.has(print)) firsts.set(print, row);
        return firsts.get(print) as number;
      });
    }
    return this.#twins;
  }

  /** Returns the similarity that a row must have at least to enter the list. */
  #worstWanted(row: number): number {
    const { limit, counts, similarities } = this.lists;
    if (this.#search.units.factor(row) === 0) return Number.POSITIVE_INFINITY;
    return counts[row] === limit ? (similarities[(row + 1) * limit - 1] as number) : this.#search.threshold;
  }
}
