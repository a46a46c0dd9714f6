import { CandidateHeaps } from './candidate-heaps.js';
import { blockRows, pitch } from '../../simd/fixed-point-rows.js';
import type { FoundNeighbours } from './neighbour-lists.js';
import { NeighbourFinder, numbersUpTo, productsPerStep, type NeighbourSearch } from './nearest-neighbours.js';

/** Rows of a sample whose neighbours are found exactly. */
const sampleRows = 256;
/** Rows from which the centres are learned, per cell, and how often they are moved. */
const trainingRowsPerCell = 40;
const trainingRounds = 6;
/** Where the sample asks for more than this share of the cells, comparing all pairs is as fast. */
const maxShareOfCells = 0.4;

/**
 * Finds most neighbours without comparing all pairs: rows are divided into cells around centres (spherical k-means), and a row
 * is compared with those of the cells nearest to it. How many cells that are is measured: as many as a sample of rows needs for
 * the recall asked for. The recall that is returned is measured on other rows. Nothing is drawn at random.
 *
 * @see [Jégou, Douze, Schmid: Product quantization for nearest neighbor search, section IV](https://doi.org/10.1109/TPAMI.2010.57)
 */
export function* findNeighboursByCells(search: NeighbourSearch, recall: number): Generator<number, FoundNeighbours> {
  const { count } = search.units;
  const cellCount = Math.ceil(2 * Math.sqrt(count));
  const finder = new NeighbourFinder(search, cellCount);
  const centres = Uint32Array.from({ length: cellCount }, (_, cell) => count + cell);
  yield* trainCentres(finder, centres);
  const all = numbersUpTo(count);
  const cellOf = new Uint32Array(count);
  yield* nearestCells(finder, all, centres, 1, (row, [cell]) => {
    cellOf[row] = cell as number;
  });
  const sampled = evenly(count, 2 * sampleRows);
  const asked = sampled.filter((_row, place) => place % 2 === 0);
  const checked = sampled.filter((_row, place) => place % 2 === 1);
  // The long part is still to come.
  for (const _ of finder.findFor(sampled)) yield 0;
  const cells = yield* cellsNeeded(finder, { centres, cellOf, asked, recall: recall + (1 - recall) / 4 });
  const truth = new Map(Array.from(checked, (row) => [row, neighboursOf(finder, row)]));
  if (cells > cellCount * maxShareOfCells) {
    yield* finder.compareAll();
    return { lists: finder.lists, recall: 1 };
  }
  yield* compareWithinCells(finder, { centres, cellOf, cells });
  let [found, wanted] = [0, 0];
  for (const [row, neighbours] of truth) {
    const own = new Set(neighboursOf(finder, row));
    wanted += neighbours.length;
    found += neighbours.filter((neighbour) => own.has(neighbour)).length;
  }
  return { lists: finder.lists, recall: wanted === 0 ? 1 : found / wanted };
}

function neighboursOf({ lists }: NeighbourFinder, row: number): number[] {
  const start = row * lists.limit;
  return Array.from(lists.rows.subarray(start, start + (lists.counts[row] as number)));
}

function evenly(count: number, wanted: number): Uint32Array {
  const length = Math.min(count, wanted);
  return Uint32Array.from({ length }, (_, place) => Math.floor((place * count) / length));
}

function* trainCentres(finder: NeighbourFinder, centres: Uint32Array): Generator<number, void> {
  const { units } = finder.search;
  const { dimension } = units;
  const training = evenly(units.count, centres.length * trainingRowsPerCell);
  const means = Array.from(evenly(units.count, centres.length), (row) => Float64Array.from(units.vector(row)));
  for (let round = 0; round < trainingRounds; round += 1) {
    means.forEach((mean, cell) => finder.rows.write(centres[cell] as number, mean, factorOf(mean)));
    const sums = means.map(() => new Float64Array(dimension));
    yield* nearestCells(finder, training, centres, 1, (place, [cell]) => {
      const row = training[place] as number;
      const [sum, vector, factor] = [sums[cell as number] as Float64Array, units.vector(row), units.factor(row)];
      for (let at = 0; at < dimension; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number) * factor;
    });
    // A centre that nothing is nearest to stays where it is.
    for (const [cell, sum] of sums.entries()) if (factorOf(sum) > 0) means[cell] = sum;
  }
  means.forEach((mean, cell) => finder.rows.write(centres[cell] as number, mean, factorOf(mean)));
}

function factorOf(vector: Float64Array): number {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? 0 : 1 / length;
}

/** The cells nearest to each of some rows, nearest first. */
function* nearestCells(
  { rows }: NeighbourFinder,
  some: Uint32Array,
  centres: Uint32Array,
  wanted: number,
  visit: (place: number, cells: Uint32Array) => void,
): Generator<number, void> {
  const first = centres[0] as number;
  for (let start = 0; start < some.length; start += blockRows) {
    const block = some.subarray(start, start + blockRows);
    const heaps = new CandidateHeaps(block.length, wanted, -(2 ** 31));
    rows.gather(0, block);
    for (let cell = 0; cell < centres.length; cell += blockRows) {
      const cells = Math.min(blockRows, centres.length - cell);
      const products = rows.multiply('gathered', block.length, first + cell, cells);
      for (let i = 0; i < block.length; i += 1) {
        for (let j = 0; j < cells; j += 1) {
          const product = products[i * pitch(cells) + j] as number;
          if (product >= (heaps.cuts[i] as number)) heaps.offer(i, cell + j, product);
        }
      }
    }
    for (let i = 0; i < block.length; i += 1) visit(start + i, heaps.bestFirst(i));
    if ((start / blockRows) % 8 === 7) yield 0;
  }
}

/** How many of its nearest cells a row must look into, so that the share `recall` of the sample's neighbours is found. */
function* cellsNeeded(
  finder: NeighbourFinder,
  options: { centres: Uint32Array; cellOf: Uint32Array; asked: Uint32Array; recall: number },
): Generator<number, number> {
  const { centres, cellOf, asked, recall } = options;
  /** By number of cells before it: neighbours that are found in a cell. */
  const foundAt = new Uint32Array(centres.length);
  let wanted = 0;
  yield* nearestCells(finder, asked, centres, centres.length, (place, cells) => {
    const rank = new Uint32Array(centres.length);
    cells.forEach((cell, before) => (rank[cell] = before));
    for (const neighbour of neighboursOf(finder, asked[place] as number)) {
      const at = rank[cellOf[neighbour] as number] as number;
      foundAt[at] = (foundAt[at] as number) + 1;
      wanted += 1;
    }
  });
  let found = 0;
  for (let cells = 1; cells <= centres.length; cells += 1) {
    found += foundAt[cells - 1] as number;
    if (found >= recall * wanted) return cells;
  }
  return centres.length;
}

function* compareWithinCells(
  finder: NeighbourFinder,
  { centres, cellOf, cells }: { centres: Uint32Array; cellOf: Uint32Array; cells: number },
): Generator<number, void> {
  const { rows, search } = finder;
  const { count, dimension } = search.units;
  const members = Array.from(centres, (): number[] => []);
  const visitors = Array.from(centres, (): number[] => []);
  for (let row = 0; row < count; row += 1) members[cellOf[row] as number]?.push(row);
  const all = numbersUpTo(count);
  yield* nearestCells(finder, all, centres, cells, (row, nearest) => {
    for (const cell of nearest) visitors[cell]?.push(row);
  });
  const heaps = finder.createHeaps();
  const { cuts } = heaps;
  let step = 0;
  for (let cell = 0; cell < centres.length; cell += 1) {
    const memberRows = Uint32Array.from(members[cell] as number[]);
    const visitorRows = Uint32Array.from(visitors[cell] as number[]);
    for (let m = 0; m < memberRows.length; m += blockRows) {
      const memberBlock = memberRows.subarray(m, m + blockRows);
      rows.gather(1, memberBlock);
      for (let v = 0; v < visitorRows.length; v += blockRows) {
        const visitorBlock = visitorRows.subarray(v, v + blockRows);
        rows.gather(0, visitorBlock);
        const products = rows.multiply('gathered', visitorBlock.length, 'gathered', memberBlock.length);
        for (let i = 0; i < visitorBlock.length; i += 1) {
          const row = visitorBlock[i] as number;
          for (let j = 0; j < memberBlock.length; j += 1) {
            const product = products[i * pitch(memberBlock.length) + j] as number;
            const other = memberBlock[j] as number;
            if (product >= (cuts[row] as number) && other !== row) heaps.offer(row, other, product);
          }
        }
        step += visitorBlock.length * memberBlock.length * dimension;
      }
    }
    if (step > productsPerStep) {
      step = 0;
      yield cell / centres.length;
    }
  }
  yield* finder.rankAll(heaps, all);
}
