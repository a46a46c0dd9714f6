import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';

/** Connects each passage with the one that follows it in its source. Passages without `position` are left out. */
export function addSequenceEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  for (const [source, nodes] of groupBySource(passages)) {
    const ordered = nodes.filter((node) => passages[node]?.position !== undefined);
    for (const [place, to] of ordered.entries()) {
      const from = ordered[place - 1];
      if (from !== undefined) edges.add(from, to, 1, 'sequence', `next to each other in ${source}`);
    }
  }
}
