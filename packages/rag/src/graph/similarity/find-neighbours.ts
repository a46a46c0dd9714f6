import { findNeighboursByCells } from './cell-neighbours.js';
import { NeighbourFinder, type NeighbourSearch } from './nearest-neighbours.js';
import { offerNeighbour, type FoundNeighbours } from './neighbour-lists.js';

export interface FindNeighboursOptions extends NeighbourSearch {
  /** Share of the true neighbours that must be found. Below 1, many rows are searched approximately. */
  readonly recall: number;
  /** What is known of rows that did not change. */
  readonly known?: KnownNeighbours | undefined;
}

export interface KnownNeighbours extends FoundNeighbours {
  /** Rows whose lists are not known. */
  readonly unknown: Uint32Array;
  /** By row: 1 for those that the known lists could not hold yet. */
  readonly isNew: Uint8Array;
}

/** Up to this number all pairs are compared. */
const maxExact = 20_000;
/** Of more unknown rows than this share, a search from the beginning is as fast: of all pairs, or an approximate one. */
const maxUnknownShare = { exact: 0.3, approximate: 0.03 };

/** For each row the most similar others. Yields the share that is done. */
export function* findNeighbours(options: FindNeighboursOptions): Generator<number, FoundNeighbours> {
  const { units, recall, known } = options;
  const method = units.count > maxExact && recall < 1 ? 'approximate' : 'exact';
  const isMostlyKnown = known && known.unknown.length <= units.count * maxUnknownShare[method];
  if (isMostlyKnown) return yield* extendKnown(options, known);
  if (method === 'approximate') return yield* findNeighboursByCells(options, recall);
  const finder = new NeighbourFinder(options);
  yield* finder.compareAll();
  return { lists: finder.lists, recall: 1 };
}

/** Searches the unknown rows among all, and offers new rows to the known ones. */
function* extendKnown(
  search: NeighbourSearch,
  { lists, recall, unknown, isNew }: KnownNeighbours,
): Generator<number, FoundNeighbours> {
  const { units, threshold, limit } = search;
  const finder = new NeighbourFinder(search);
  const isUnknown = new Uint8Array(units.count);
  for (const row of unknown) isUnknown[row] = 1;
  const cuts = new Int32Array(units.count);
  for (let row = 0; row < units.count; row += 1) {
    const count = lists.counts[row] as number;
    finder.lists.counts[row] = count;
    const isFull = count === limit;
    cuts[row] = finder.rows.smallestProduct(isFull ? (lists.similarities[(row + 1) * limit - 1] as number) : threshold);
  }
  finder.lists.rows.set(lists.rows);
  finder.lists.similarities.set(lists.similarities);
  yield* finder.findFor(unknown, (place, other, product) => {
    const row = unknown[place] as number;
    if (isUnknown[other] || !isNew[row] || product < (cuts[other] as number)) return;
    const similarity = units.similarity(other, row);
    if (similarity > threshold) offerNeighbour(finder.lists, other, row, similarity);
  });
  return { lists: finder.lists, recall };
}
