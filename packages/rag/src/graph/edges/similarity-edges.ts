import type { EdgeList } from '../edge-list.js';
import type { NeighbourLists } from '../similarity/neighbour-lists.js';

/** Connects each node with its most similar ones. A pair is connected when one of the two is among the other's nearest. */
export function addSimilarityEdges(edges: EdgeList, lists: NeighbourLists, kind = 'similarity'): void {
  const { limit, counts, rows, similarities } = lists;
  const has = (row: number, neighbour: number): boolean => {
    const start = row * limit;
    return rows.subarray(start, start + (counts[row] as number)).includes(neighbour);
  };
  for (let row = 0; row < counts.length; row += 1) {
    for (let place = row * limit; place < row * limit + (counts[row] as number); place += 1) {
      const neighbour = rows[place] as number;
      const similarity = similarities[place] as number;
      if (row > neighbour && has(neighbour, row)) continue;
      edges.add(row, neighbour, similarity, kind, `cosine similarity ${similarity.toFixed(2)}`);
    }
  }
}
