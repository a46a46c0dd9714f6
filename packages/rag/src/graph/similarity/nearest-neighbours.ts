import { CandidateHeaps } from './candidate-heaps.js';
import { fingerprint } from './fingerprint.js';
import { blockRows, FixedPointRows, pitch } from '../../simd/fixed-point-rows.js';
import { createNeighbourLists, offerNeighbour, type NeighbourLists } from './neighbour-lists.js';
import type { UnitRows } from './unit-rows.js';

export interface NeighbourSearch {
  readonly units: UnitRows;
  /** Neighbours of a row at most. */
  readonly limit: number;
  /** Neighbours are more similar than this; it is not negative. */
  readonly threshold: number;
}

/** More candidates than neighbours are kept: rounding may have changed their order. */
const spareCandidates = 6;
/** Multiplications between two steps: a few milliseconds. */
export const productsPerStep: number = 2 ** 28;

/** Compares rows as integers first and exactly where it matters. What is long is done in steps that yield the share that is done. */
export class NeighbourFinder {
  readonly search: NeighbourSearch;
  readonly rows: FixedPointRows;
  readonly lists: NeighbourLists;
  #twins: Uint32Array | undefined;

  /** @param spareRows - rows beyond those of the search, for the caller's own use */
  constructor(search: NeighbourSearch, spareRows = 0) {
    const { units, limit } = search;
    this.search = search;
    this.rows = new FixedPointRows(units.count + spareRows, units.dimension);
    for (let row = 0; row < units.count; row += 1) this.rows.write(row, units.vector(row), units.factor(row));
    this.lists = createNeighbourLists(units.count, limit);
  }

  /** For all rows, or for some. */
  createHeaps(some: Uint32Array = numbersUpTo(this.search.units.count)): CandidateHeaps {
    const { units, limit, threshold } = this.search;
    const heaps = new CandidateHeaps(some.length, limit + spareCandidates, this.rows.smallestProduct(threshold));
    // Nothing is similar to a row without direction.
    for (let place = 0; place < some.length; place += 1) {
      if (units.factor(some[place] as number) === 0) heaps.cuts[place] = 2 ** 31 - 1;
    }
    return heaps;
  }

  /** Compares all rows with each other, each pair once. Yields the share that is done. */
  *compareAll(): Generator<number, void> {
    const { count, dimension } = this.search.units;
    const heaps = this.createHeaps();
    const { cuts } = heaps;
    let [done, step] = [0, 0];
    for (let a = 0; a < count; a += blockRows) {
      const aRows = Math.min(blockRows, count - a);
      for (let b = a; b < count; b += blockRows) {
        const bRows = Math.min(blockRows, count - b);
        const products = this.rows.multiply(a, aRows, b, bRows);
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
    yield* this.settle(heaps, numbersUpTo(count));
  }

  /** Compares some rows with all. `visit` sees every product. Yields the share that is done. */
  *compare(some: Uint32Array, visit: (place: number, other: number, product: number) => void): Generator<number, void> {
    const { count, dimension } = this.search.units;
    let step = 0;
    for (let start = 0; start < some.length; start += blockRows) {
      const block = some.subarray(start, start + blockRows);
      this.rows.gather(0, block);
      for (let b = 0; b < count; b += blockRows) {
        const bRows = Math.min(blockRows, count - b);
        const products = this.rows.multiply('gathered', block.length, b, bRows);
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

  /** Finds the neighbours of some rows exactly. `visit` sees every product too. */
  *findFor(
    some: Uint32Array,
    visit: (place: number, other: number, product: number) => void = () => undefined,
  ): Generator<number, void> {
    const heaps = this.createHeaps(some);
    const { cuts } = heaps;
    yield* this.compare(some, (place, other, product) => {
      if (product >= (cuts[place] as number)) heaps.offer(place, other, product);
      visit(place, other, product);
    });
    yield* this.settle(heaps, some);
  }

  /**
   * Fills the lists of rows from their candidates. Rows where something that is not among the candidates could belong to the
   * list are compared again: with all rows, and exactly with all that come into question.
   */
  *settle(heaps: CandidateHeaps, some: Uint32Array): Generator<number, void> {
    yield* this.rankAll(heaps, some);
    const unsettled: number[] = [];
    for (let place = 0; place < some.length; place += 1) {
      const row = some[place] as number;
      if (heaps.size(place) < heaps.capacity) continue;
      const mostOutside = this.rows.largestSimilarity(heaps.cuts[place] as number);
      if (this.#worstWanted(row) <= mostOutside) unsettled.push(row);
    }
    const rows = Uint32Array.from(unsettled);
    const cuts = Int32Array.from(rows, (row) => this.rows.smallestProduct(this.#worstWanted(row)));
    for (let start = 0; start < rows.length; start += blockRows) {
      const block = rows.slice(start, start + blockRows);
      const candidates = Array.from(block, (): number[] => []);
      yield* this.compare(block, (place, other, product) => {
        if (product >= (cuts[start + place] as number)) candidates[place]?.push(other);
      });
      block.forEach((row, place) => this.#rank(row, Uint32Array.from(candidates[place] as number[])));
    }
  }

  /** Makes the lists of rows from their candidates, by the exact similarity. */
  *rankAll(heaps: CandidateHeaps, some: Uint32Array): Generator<number, void> {
    const rowsPerStep = Math.ceil(productsPerStep / 16 / (heaps.capacity * this.search.units.dimension));
    for (let place = 0; place < some.length; place += 1) {
      this.#rank(some[place] as number, heaps.candidates(place));
      if (place % rowsPerStep === rowsPerStep - 1) yield 0;
    }
  }

  #rank(row: number, candidates: Uint32Array): void {
    const { units, threshold, limit } = this.search;
    this.lists.counts[row] = 0;
    if (units.factor(row) === 0) return;
    // Where more come into question than usual, many are often equal.
    const twins = candidates.length > limit + spareCandidates ? this.#firstTwins() : undefined;
    const known = twins && new Map<number, number>();
    for (const candidate of candidates) {
      const twin = twins?.[candidate] ?? candidate;
      const similarity = known?.get(twin) ?? units.similarity(row, candidate);
      known?.set(twin, similarity);
      if (similarity > threshold) offerNeighbour(this.lists, row, candidate, similarity);
    }
  }

  /** For each row the first one with the same vector. */
  #firstTwins(): Uint32Array {
    if (!this.#twins) {
      const { count, vector } = this.search.units;
      const firsts = new Map<bigint, number>();
      this.#twins = Uint32Array.from({ length: count }, (_, row) => {
        const print = fingerprint(vector(row));
        if (!firsts.has(print)) firsts.set(print, row);
        return firsts.get(print) as number;
      });
    }
    return this.#twins;
  }

  /** What a row that is to enter the list must reach at least. */
  #worstWanted(row: number): number {
    const { limit, counts, similarities } = this.lists;
    if (this.search.units.factor(row) === 0) return Number.POSITIVE_INFINITY;
    return counts[row] === limit ? (similarities[(row + 1) * limit - 1] as number) : this.search.threshold;
  }
}

/** 0, 1, … */
export function numbersUpTo(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, number) => number);
}
