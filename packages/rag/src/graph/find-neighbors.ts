import { blockRows, FixedPointRows, pitch, productOf, similarityOf } from '../simd/fixed-point-rows.js';
import type { Edge } from './adjacency.js';

export interface NeighborSearch {
  readonly vectors: readonly Float32Array[];
  readonly dimension: number;
  /** Most neighbors of a row. */
  readonly limit: number;
  /** Neighbors are more similar than this number, which is not negative. */
  readonly threshold: number;
}

/** The most similar other rows of each row, best first; equal ones by row number. Nothing is similar to a row without direction. */
export class NeighborLists {
  readonly limit: number;
  readonly counts: Uint32Array;
  /** Neighbors of row `r` from `r * limit` on. */
  readonly rows: Uint32Array;
  readonly products: Int32Array;
  /** Smallest product of each row that can still enter its list. */
  readonly cuts: Int32Array;

  constructor({ vectors: { length: count }, limit, threshold }: NeighborSearch) {
    this.limit = limit;
    this.counts = new Uint32Array(count);
    this.rows = new Uint32Array(count * limit);
    this.products = new Int32Array(count * limit);
    this.cuts = new Int32Array(count).fill(Math.max(1, productOf(threshold)));
  }

  /** Inserts a neighbor at its position, unless the list is full of better ones. Call it once per neighbor. */
  offer(row: number, neighbor: number, product: number): void {
    const { limit, counts, rows, products, cuts } = this;
    if (product < (cuts[row] as number)) return;
    const start = row * limit;
    const count = counts[row] as number;
    let at = start + count;
    if (count === limit) {
      at -= 1;
      if (products[at] === product && (rows[at] as number) < neighbor) return;
    } else counts[row] = count + 1;
    for (; at > start; at -= 1) {
      const [other, otherProduct] = [rows[at - 1] as number, products[at - 1] as number];
      if (otherProduct > product || (otherProduct === product && other < neighbor)) break;
      rows[at] = other;
      products[at] = otherProduct;
    }
    rows[at] = neighbor;
    products[at] = product;
    if (counts[row] === limit) cuts[row] = products[start + limit - 1] as number;
  }

  neighborsOf(row: number): Uint32Array {
    return this.rows.subarray(row * this.limit, row * this.limit + (this.counts[row] as number));
  }
}

/**
 * Returns the edges between each row and its neighbors. Two rows that are neighbors of each other have one edge.
 *
 * @param kind - of the edges. Default `similarity`
 */
export function similarityEdges({ threshold }: NeighborSearch, lists: NeighborLists, kind = 'similarity'): Edge[] {
  return Array.from(lists.counts, (_, from) => {
    const own = Array.from(lists.neighborsOf(from), (to, place): Edge => {
      const weight = similarityOf(lists.products[from * lists.limit + place] as number);
      return { from, to, weight, kind, reason: undefined };
    });
    return own.filter(({ to, weight }) => weight > threshold && (from < to || !lists.neighborsOf(to).includes(from)));
  }).flat();
}

/** Multiplications between two steps: a few milliseconds. */
const productsPerStep = 2 ** 28;

/** Finds the most similar other rows of each row. Yields the share of the work that is done. All pairs are compared, as integers. */
export function* findNeighbors(search: NeighborSearch): Generator<number, NeighborLists> {
  const { vectors, dimension } = search;
  const count = vectors.length;
  const integers = new FixedPointRows(vectors, dimension);
  const lists = new NeighborLists(search);
  const { cuts } = lists;
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
          if (product >= (cuts[row] as number)) lists.offer(row, other, product);
          if (product >= (cuts[other] as number)) lists.offer(other, row, product);
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
  return lists;
}

/** Neighbors of each vector, from an earlier search with the same limit and threshold. */
export interface SearchedNeighbors {
  readonly ids: readonly string[];
  readonly fingerprints: BigUint64Array;
  readonly lists: NeighborLists;
}

/** Returns 64 bits of each vector that equal ones share, and different ones only by accident. Equal on every machine. */
export function toFingerprints(vectors: readonly Float32Array[]): BigUint64Array {
  return BigUint64Array.from(vectors, (vector) => {
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
  });
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
  search: NeighborSearch,
  { ids, fingerprints }: Omit<SearchedNeighbors, 'lists'>,
  previous: SearchedNeighbors,
): Generator<number, NeighborLists | undefined> {
  const { limit } = search;
  const count = ids.length;
  const numbers = new Map(ids.map((id, row) => [id, row]));
  /** Current rows of the earlier ones; `undefined` for changed and removed ones. */
  const rowOf = previous.ids.map((id, old) => {
    const row = numbers.get(id);
    return row !== undefined && previous.fingerprints[old] === fingerprints[row] ? row : undefined;
  });
  const lists = new NeighborLists(search);
  const added = new Set(ids.keys());
  for (const row of rowOf) if (row !== undefined) added.delete(row);
  const unknown = new Set(added);
  for (const [old, row] of rowOf.entries()) {
    if (row === undefined) continue;
    const neighbors = previous.lists.neighborsOf(old);
    const hasLost = neighbors.some((neighbor) => rowOf[neighbor] === undefined);
    if (hasLost && neighbors.length === limit) unknown.add(row);
    else
      for (const [place, neighbor] of neighbors.entries()) {
        const to = rowOf[neighbor];
        if (to !== undefined) lists.offer(row, to, previous.lists.products[old * limit + place] as number);
      }
  }
  if (unknown.size > fewUnknown + count * maxUnknownShare) return undefined;
  const integers = new FixedPointRows(search.vectors, search.dimension);
  for (const row of unknown) {
    yield 0;
    for (let first = 0; first < count; first += blockRows) {
      const rows = Math.min(blockRows, count - first);
      for (const [place, product] of integers.multiply(row, 1, first, rows).subarray(0, rows).entries()) {
        const other = first + place;
        if (other === row) continue;
        lists.offer(row, other, product);
        if (added.has(row) && !unknown.has(other)) lists.offer(other, row, product);
      }
    }
  }
  return lists;
}
