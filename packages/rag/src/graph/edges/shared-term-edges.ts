import type { EdgeList } from '../edge-list.js';
import type { EdgeKind } from './edge-kinds.js';

export interface SharedTermEdges {
  readonly edges: EdgeList;
  readonly kind: EdgeKind;
  /** Of each node. */
  readonly terms: readonly ReadonlySet<string>[];
  /** Terms of more nodes than this connect nothing: they say little, and the number of pairs grows with the square. */
  readonly maxPassages: number;
  /** @param shared - the rarest terms that two nodes share, at most three, in alphabetical order where equally rare */
  readonly reasonOf: (shared: readonly string[]) => string;
}

/** Reasons name no more terms than this. */
const termsInReason = 3;

/**
 * Connects nodes that share terms. A term of `df` among `N` nodes adds `ln((N + 1) / df) / ln(N + 1) / df` to each of its
 * pairs, a number below one half: the rarer the term, the more it says, and the fewer share it.
 */
export function addSharedTermEdges({ edges, kind, terms, maxPassages, reasonOf }: SharedTermEdges): void {
  const nodesOf = new Map<string, number[]>();
  for (const [node, own] of terms.entries()) {
    for (const term of own) {
      const nodes = nodesOf.get(term);
      if (nodes) nodes.push(node);
      else nodesOf.set(term, [node]);
    }
  }
  const rare = [...nodesOf].filter(([, { length }]) => length >= 2 && length <= maxPassages);
  rare.sort(([a, { length: ofA }], [b, { length: ofB }]) => ofA - ofB || (a < b ? -1 : 1));
  /** The terms that a node shares with nodes of larger numbers, rarest first. */
  const sharedBy = new Map<number, Map<number, { weight: number; shared: string[] }>>();
  for (const [term, nodes] of rare) {
    const weight = Math.log((terms.length + 1) / nodes.length) / Math.log(terms.length + 1) / nodes.length;
    for (const [place, from] of nodes.entries()) {
      let pairs = sharedBy.get(from);
      if (!pairs) sharedBy.set(from, (pairs = new Map()));
      for (const to of nodes.slice(place + 1)) {
        const pair = pairs.get(to);
        if (!pair) pairs.set(to, { weight, shared: [term] });
        else {
          pair.weight += weight;
          if (pair.shared.length < termsInReason) pair.shared.push(term);
        }
      }
    }
  }
  for (const [from, pairs] of [...sharedBy].sort(byNumber)) {
    for (const [to, { weight, shared }] of [...pairs].sort(byNumber))
      edges.add(from, to, weight, kind, reasonOf(shared));
  }
}

function byNumber([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}
