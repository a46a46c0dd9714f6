import type { EdgeList } from './edge-list.js';

/** The most similar rows of each row, best first; equal ones by row number. */
export interface NeighborLists {
  /** Most neighbors of a row. */
  readonly limit: number;
  /** Number of neighbors of each row. */
  readonly counts: Uint32Array;
  /** Neighbors of row `r` from `r * limit` on. */
  readonly rows: Uint32Array;
  readonly similarities: Float32Array;
}

export function createNeighborLists(count: number, limit: number): NeighborLists {
  return {
    limit,
    counts: new Uint32Array(count),
    rows: new Uint32Array(count * limit),
    similarities: new Float32Array(count * limit),
  };
}

/** Inserts a neighbor in its place, unless the list is full of better ones. Call it once per neighbor. */
export function offerNeighbor(lists: NeighborLists, row: number, neighbor: number, similarity: number): void {
  const { limit, counts, rows, similarities } = lists;
  const start = row * limit;
  const count = counts[row] as number;
  let place = start + count;
  while (place > start) {
    const other = similarities[place - 1] as number;
    if (other > similarity || (other === similarity && (rows[place - 1] as number) < neighbor)) break;
    place -= 1;
  }
  if (place === start + limit) return;
  const kept = Math.min(count, limit - 1);
  rows.copyWithin(place + 1, place, start + kept);
  similarities.copyWithin(place + 1, place, start + kept);
  rows[place] = neighbor;
  similarities[place] = similarity;
  counts[row] = kept + 1;
}

/** Connects two nodes when one of them is among the nearest of the other. */
export function addSimilarityEdges(edges: EdgeList, lists: NeighborLists, kind = 'similarity'): void {
  const { limit, counts, rows, similarities } = lists;
  const has = (row: number, neighbor: number): boolean => {
    const start = row * limit;
    return rows.subarray(start, start + (counts[row] as number)).includes(neighbor);
  };
  for (let row = 0; row < counts.length; row += 1) {
    for (let place = row * limit; place < row * limit + (counts[row] as number); place += 1) {
      const neighbor = rows[place] as number;
      const similarity = similarities[place] as number;
      if (row > neighbor && has(neighbor, row)) continue;
      edges.add(row, neighbor, similarity, kind, `cosine similarity ${similarity.toFixed(2)}`);
    }
  }
}
