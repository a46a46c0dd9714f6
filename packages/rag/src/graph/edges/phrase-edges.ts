import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';
import { namesIn } from './names-in.js';
import { addSharedTermEdges } from './shared-term-edges.js';

/**
 * Connects passages that share rare names, found without a model: words with a capital letter, and the titles of documents. A
 * title stands for the first passage of its document.
 */
export function addPhraseEdges(edges: EdgeList, passages: readonly GraphPassage[], maxPassages: number): void {
  const firsts = new Set([...groupBySource(passages).values()].map(([first]) => first));
  const phrases = passages.map(({ document, title, source }, node) => {
    const isFirst = source === undefined || firsts.has(node);
    return namesIn(title !== undefined && isFirst ? `${title} ${document}` : document, isFirst ? title : undefined);
  });
  addSharedTermEdges({
    edges,
    kind: 'phrase',
    terms: phrases,
    maxPassages,
    reasonOf: (shared) => `both name ${shared.map((phrase) => `“${phrase}”`).join(', ')}`,
  });
}
