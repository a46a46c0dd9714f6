import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { randomFrom } from '../../../../scripts/test-random.ts';
import {
  findNeighbors,
  similarityEdges,
  toFingerprints,
  updateNeighbors,
  type NeighborLists,
  type NeighborSearch,
} from './find-neighbors.js';

type Vectors = readonly (readonly number[] | Float32Array)[];

function searchOf(given: Vectors, { limit = 3, threshold = 0 }: Partial<NeighborSearch> = {}): NeighborSearch {
  const vectors = given.map((vector) => Float32Array.from(vector));
  return { vectors, dimension: vectors[0]?.length ?? 1, limit, threshold };
}

function finish<Lists>(steps: Generator<number, Lists>): Lists {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Returns the edges, as `[from, to, weight]`. */
function edgesOf(search: NeighborSearch, lists: NeighborLists): [number, number, number][] {
  return similarityEdges(search, lists).map(({ from, to, weight }) => [from, to, weight]);
}

function find(vectors: Vectors, options?: Partial<NeighborSearch>): [number, number, number][] {
  const search = searchOf(vectors, options);
  return edgesOf(search, finish(findNeighbors(search)));
}

/** Compares every pair, in the plainest way. Integers decide, so that no order of additions matters. */
function compareAll(vectors: Vectors, limit: number, threshold: number): [number, number, number][] {
  const units = vectors.map((vector) => {
    const row = [...Float32Array.from(vector)];
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
    let rest = 0;
    return row.map((value) => {
      const size = Math.abs(value) * (length === 0 ? 0 : 32_000 / length) + rest;
      const rounded = Math.round(size);
      rest = size - rounded;
      return Math.sign(value) * rounded;
    });
  });
  const products = units.map((row) =>
    units.map((other) => row.reduce((sum, value, place) => sum + value * (other[place] as number), 0)),
  );
  const product = (row: number, other: number): number => products[row]?.[other] as number;
  const lists = units.map((_, row) =>
    [...units.keys()]
      .filter((other) => other !== row && product(row, other) > 0)
      .sort((a, b) => product(row, b) - product(row, a) || a - b)
      .slice(0, limit),
  );
  return lists.flatMap((list, row) =>
    list
      .map((other): [number, number, number] => [
        row,
        other,
        Math.min(1, Math.round((product(row, other) / 32_000 ** 2) * 1e4) / 1e4),
      ])
      .filter(([, other, weight]) => weight > threshold && (row < other || !lists[other]?.includes(row))),
  );
}

/** Groups of vectors around common centers; the same numbers on every machine. */
function clusters(count: number, dimension: number, size: number, spread: number): Float32Array[] {
  const next = randomFrom(1);
  const random = (): number => 2 * next() - 1;
  const centers = Array.from({ length: Math.ceil(count / size) }, () =>
    Float32Array.from({ length: dimension }, random),
  );
  return Array.from({ length: count }, (_, row) =>
    (centers[row % centers.length] as Float32Array).map((value) => value + spread * random()),
  );
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('findNeighbors', () => {
  const number = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    // Few values make many equal vectors and equal similarities.
    fc.constantFrom(0, 1, -1, 0.5),
    fc.constantFrom(1e-20, 1e20, 1e-4),
  );
  const vectors = fc
    .integer({ min: 1, max: 20 })
    .chain((dimension) =>
      fc.array(fc.array(number, { minLength: dimension, maxLength: dimension }), { minLength: 1, maxLength: 40 }),
    );

  it('finds what comparing every pair finds', () => {
    fc.assert(
      fc.property(
        vectors,
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(0, 0.3, 0.7, 0.999),
        (rows, limit, threshold) => {
          expect(find(rows, { limit, threshold })).toEqual(compareAll(rows, limit, threshold));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds the same in many rows, among them groups that rounding cannot tell apart', () => {
    const rows = [...clusters(300, 40, 35, 1e-5), ...clusters(100, 40, 20, 0.5)];
    expect(find(rows, { limit: 10, threshold: 0.2 })).toEqual(compareAll(rows, 10, 0.2));
  });

  it('finds the same, bit by bit, where WebAssembly is forbidden', async () => {
    const rows = clusters(300, 33, 15, 0.5);
    const expected = find(rows, { limit: 5 });
    vi.stubGlobal('WebAssembly', undefined);
    expect(find(rows, { limit: 5 })).toEqual(expected);
  });

  // An error of each number is the same in all numbers here: 816.497 for 1,536 of them.
  it.each([384, 768, 1536, 3072])('gives binary vectors of %i numbers their cosine to three digits', (dimension) => {
    const first = clusters(1, dimension, 1, 0)[0]!.map((value) => (value < 0 ? -1 : 1));
    const changed = (share: number): Float32Array =>
      first.map((value, place) => (place < dimension * share ? -value : value));
    const rows = [first, first, changed(1 / 64), changed(0.25)];
    const cosines = [1, 1 - 2 / 64, 0.5, 1 - 2 / 64, 0.5, 1 - 2 * (0.25 - 1 / 64)];
    const edges = find(rows, { limit: 3 });
    expect(edges).toHaveLength(cosines.length);
    for (const [place, [, , weight]] of edges.entries()) expect(Math.abs(weight - cosines[place]!)).toBeLessThan(2e-4);
    expect(find(rows, { threshold: 0.999 })).toEqual([[0, 1, 1]]);
  });

  it('connects equal vectors, and nothing without direction, or above the threshold 1', () => {
    const equal = Array.from({ length: 3000 }, (_, row) => (row < 2000 ? [1, 2, 3] : [0, 0, 0]));
    const edges = find(equal);
    expect(edges).toHaveLength(3 + 3 * 1997);
    expect(edges.at(-1)).toEqual([1999, 2, 1]);
    expect(find(equal, { threshold: 1 })).toEqual([]);
  });
});

describe('updateNeighbors', () => {
  const passage = fc.record({
    id: fc.constantFrom(...'abcdefghijklmnop'),
    vector: fc.array(fc.constantFrom(0, 0.2, 0.5, 1, -1), { minLength: 4, maxLength: 4 }),
  });
  type Passages = readonly { id: string; vector: readonly number[] }[];
  const passages = fc.uniqueArray(passage, { selector: ({ id }) => id, maxLength: 16 });

  function read(passages: Passages): {
    search: NeighborSearch;
    current: { ids: string[]; fingerprints: BigUint64Array };
  } {
    const ordered = passages.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const search = searchOf(
      ordered.map(({ vector }) => vector),
      { threshold: 0.1 },
    );
    return { search, current: { ids: ordered.map(({ id }) => id), fingerprints: toFingerprints(search.vectors) } };
  }

  it('finds what a search from nothing finds, after any change', () => {
    fc.assert(
      fc.property(passages, passages, fc.subarray([0, 1, 2, 3]), (before, other, kept) => {
        // Most passages are unchanged, so that some neighbors are known.
        const ids = new Set(before.map(({ id }) => id));
        const changes = other.filter(({ id }, place) => kept.includes(place) || !ids.has(id));
        const changed = new Set(changes.map(({ id }) => id));
        const old = read(before);
        const { search, current } = read([
          ...before.filter(({ id }, place) => !changed.has(id) && place % 5 !== 4),
          ...changes,
        ]);
        const previous = { ...old.current, lists: finish(findNeighbors(old.search)) };
        const updated = finish(updateNeighbors(search, current, previous)) as NeighborLists;
        expect(edgesOf(search, updated)).toEqual(edgesOf(search, finish(findNeighbors(search))));
      }),
      { numRuns: 300 },
    );
  });
});
