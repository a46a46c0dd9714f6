import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';

interface Relation {
  type: string;
  target: string;
}

/**
 * Connects passages as their metadata says: `relations` is a list of `{ type, target }`, or of texts `type:target` where a store
 * keeps no objects. A target is the id of a passage or the source of a document, whose first passage is meant. Targets that are
 * not in the graph are left out: they may come later. Entries of other shapes are ignored, for the key may be in use otherwise.
 */
export function addRelationEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  const numbers = new Map<string, number>();
  for (const [source, [first]] of groupBySource(passages)) numbers.set(source, first as number);
  for (const [node, { id }] of passages.entries()) numbers.set(id, node);
  for (const [from, passage] of passages.entries()) {
    for (const { type, target } of readRelations(passage.metadata?.['relations'])) {
      const to = numbers.get(target);
      if (to === undefined || to === from) continue;
      edges.add(from, to, 1, 'relation', `${nameOf(passage)} ${type} ${nameOf(passages[to] as GraphPassage)}`);
    }
  }
}

function* readRelations(relations: unknown): Generator<Relation> {
  if (!Array.isArray(relations)) return;
  for (const relation of relations as unknown[]) {
    if (typeof relation === 'string') {
      const colon = relation.indexOf(':');
      if (colon > 0) yield { type: relation.slice(0, colon).trim(), target: relation.slice(colon + 1).trim() };
    } else if (typeof relation === 'object' && relation !== null) {
      const { type, target } = relation as Partial<Record<keyof Relation, unknown>>;
      if (typeof type === 'string' && typeof target === 'string') yield { type, target };
    }
  }
}

function nameOf({ title, id }: GraphPassage): string {
  return title ?? id;
}
