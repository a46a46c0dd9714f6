import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';
import { namesIn } from './names-in.js';
import { addSharedTermEdges } from './shared-term-edges.js';

/**
 * Connects passages that share rare names, found without a model: words with a capital letter, and the titles of documents. A
 * title stands for the first passage of its document. One that several documents bear, such as “Introduction”, names none of them.
 */
export function addPhraseEdges(edges: EdgeList, passages: readonly GraphPassage[], maxPassages: number): void {
  const firsts = new Set([...groupBySource(passages).values()].map(([first]) => first));
  const isFirst = ({ source }: GraphPassage, node: number): boolean => source === undefined || firsts.has(node);
  const bearers = new Map<string, number>();
  for (const { title = '' } of passages.filter(isFirst)) bearers.set(title, (bearers.get(title) ?? 0) + 1);
  const phrases = passages.map((passage, node) => {
    const { document, title } = passage;
    const hasName = title !== undefined && isFirst(passage, node) && bearers.get(title) === 1;
    return hasName ? namesIn(`${title} ${document}`, title) : namesIn(document);
  });
  addSharedTermEdges({
    edges,
    kind: 'phrase',
    terms: phrases,
    maxPassages,
    reasonOf: (shared) => `both name ${shared.map((phrase) => `“${phrase}”`).join(', ')}`,
  });
}
