import type { ChunkGraphData } from './chunk-graph-data.js';
import type { ResolvedEdgeOptions } from './edges/edge-kinds.js';
import type { KnownNeighbours } from './similarity/find-neighbours.js';
import { createNeighbourLists } from './similarity/neighbour-lists.js';

export interface CurrentRows {
  readonly ids: readonly string[];
  readonly fingerprints: BigUint64Array;
  readonly similarity: NonNullable<ResolvedEdgeOptions['similarity']>;
}

/**
 * What an earlier graph tells about the neighbours of the current rows. A list is unknown when its row is new or changed, and
 * when it was full and lost one: others may follow.
 *
 * @returns `undefined` when the earlier graph was made with other options
 */
export function knownNeighbours(
  { ids: oldIds, fingerprints: oldPrints, neighbours, options }: ChunkGraphData,
  { ids, fingerprints, similarity }: CurrentRows,
): KnownNeighbours | undefined {
  if (!neighbours || JSON.stringify(options.similarity) !== JSON.stringify(similarity)) return undefined;
  const oldNumbers = new Map(oldIds.map((id, number) => [id, number]));
  const oldOf = ids.map((id, row) => {
    const old = oldNumbers.get(id);
    return old !== undefined && oldPrints[old] === fingerprints[row] ? old : undefined;
  });
  const newOf = new Map(oldOf.flatMap((old, row) => (old === undefined ? [] : [[old, row] as const])));
  const { limit, counts, rows, similarities } = neighbours.lists;
  const lists = createNeighbourLists(ids.length, limit);
  const isNew = new Uint8Array(ids.length);
  const unknown: number[] = [];
  for (const [row, old] of oldOf.entries()) {
    if (old === undefined) {
      isNew[row] = 1;
      unknown.push(row);
      continue;
    }
    const count = counts[old] as number;
    let kept = 0;
    for (let place = old * limit; place < old * limit + count; place += 1) {
      const neighbour = newOf.get(rows[place] as number);
      if (neighbour === undefined) continue;
      lists.rows[row * limit + kept] = neighbour;
      lists.similarities[row * limit + kept] = similarities[place] as number;
      kept += 1;
    }
    lists.counts[row] = kept;
    if (count === limit && kept < limit) unknown.push(row);
  }
  return { lists, recall: neighbours.recall, unknown: Uint32Array.from(unknown), isNew };
}
