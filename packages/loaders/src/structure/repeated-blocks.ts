import { blankOut, type SkippedText } from '@quiver/rag/document';

/** Fewer texts tell nothing about what is repeated. */
const leastTexts = 4;
/** Share of the texts that have a block. */
const leastShare = 0.6;
/** Longer blocks are content that occurs several times. */
const longestBlock = 400;

interface Text {
  readonly text: string;
  readonly skip?: readonly SkippedText[];
}

/** Returns the blocks that most of the texts have, such as the footer of all slides. A heading is not one of them. */
export function findRepeated(texts: readonly Text[]): ReadonlySet<string> {
  if (texts.length < leastTexts) return new Set();
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const block of new Set(blocksOf(text).map(({ block }) => block)))
      counts.set(block, (counts.get(block) ?? 0) + 1);
  return new Set([...counts].flatMap(([block, count]) => (count >= leastShare * texts.length ? [block] : [])));
}

/** Returns a text whose repeated blocks are not searched. */
export function skipRepeated<T extends Text>(text: T, repeated: ReadonlySet<string>): T {
  const found = blocksOf(text).filter(({ block }) => repeated.has(block));
  if (found.length === 0) return text;
  const parts = found.map(({ start, end }) => ({ start, end, kind: 'boilerplate' }));
  return { ...text, skip: [...(text.skip ?? []), ...parts].toSorted((a, b) => a.start - b.start) };
}

function blocksOf({ text, skip = [] }: Text): { block: string; start: number; end: number }[] {
  const searched = skip.length === 0 ? text : blankOut(text, skip);
  return Array.from(searched.matchAll(/\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*/g), ({ 0: found, index }) => {
    const block = found.trimEnd();
    return { block, start: index, end: index + block.length };
  }).filter(({ block }) => block.length <= longestBlock && !/^#{1,6} |^```/.test(block));
}
