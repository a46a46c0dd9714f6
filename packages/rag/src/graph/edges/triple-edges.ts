import type { EdgeList } from '../edge-list.js';
import type { GraphPassage } from '../graph-passage.js';
import type { Triple } from '../triple.js';
import { addSharedTermEdges } from './shared-term-edges.js';

/** Things that more passages than this speak of connect nothing. */
const maxPassages = 30;

/** Connects passages whose triples speak of the same thing, as subject or as object. */
export function addTripleEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  addSharedTermEdges({
    edges,
    kind: 'triple',
    terms: passages.map(({ triples = [] }) => thingsIn(triples)),
    maxPassages,
    reasonOf: (shared) => `both speak of ${shared.map((thing) => `“${thing}”`).join(', ')}`,
  });
}

function thingsIn(triples: readonly Triple[]): Set<string> {
  const things = triples.flatMap(({ subject, object }) => [normalise(subject), normalise(object)]);
  return new Set(things.filter((thing) => thing !== ''));
}

function normalise(thing: string): string {
  return thing.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}
