import { blankOut, type SkippedText } from '@quiver/rag/document';

/** Fewer texts tell nothing about what is repeated. */
const leastTexts = 4;
/** Rule by which a block is repeated. */
export interface Repetition {
  /** Returns how many of a number of texts must have the block. */
  readonly least: (texts: number) => number;
  /** Number of blocks at both ends of a text in which it is looked for. */
  readonly edge: number;
  /** Largest part of a text that is left out. Of texts that repeat more, the repeated part is the content, as in copies. */
  readonly most: number;
}

/** For slides, which are short. */
export const onSlides: Repetition = { least: (texts) => 0.6 * texts, edge: Number.POSITIVE_INFINITY, most: 1 };
/** For pages: labels such as "Note" and "Example" are on most of them, too, between the texts that they belong to. */
export const onPages: Repetition = { least: (texts) => texts - 1, edge: 5, most: 0.5 };

/** Longer blocks are content that occurs several times. */
const longestBlock = 400;

interface Text {
  readonly text: string;
  readonly skip?: readonly SkippedText[];
}

/** Returns the blocks that most of the texts have, such as the footer of all slides. A heading is not one of them. */
export function findRepeated(texts: readonly Text[], { least, edge }: Repetition): ReadonlySet<string> {
  if (texts.length < leastTexts) return new Set();
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const block of new Set(blocksOf(text, edge).map(({ block }) => block)))
      counts.set(block, (counts.get(block) ?? 0) + 1);
  return new Set([...counts].flatMap(([block, count]) => (count >= least(texts.length) ? [block] : [])));
}

/** Returns a text whose repeated blocks are not searched. */
export function skipRepeated<T extends Text>(text: T, repeated: ReadonlySet<string>, { edge, most }: Repetition): T {
  const found = blocksOf(text, edge).filter(({ block }) => repeated.has(block));
  const length = found.reduce((sum, { block }) => sum + block.length, 0);
  if (found.length === 0 || length > most * searchedText(text).trim().length) return text;
  const parts = found.map(({ start, end }) => ({ start, end, kind: 'boilerplate' }));
  return { ...text, skip: [...(text.skip ?? []), ...parts].toSorted((a, b) => a.start - b.start) };
}

function searchedText({ text, skip = [] }: Text): string {
  return skip.length === 0 ? text : blankOut(text, skip);
}

/** Returns the short blocks among those at both ends of a text. Texts that occur several times, such as labels, are left out. */
function blocksOf(text: Text, edge: number): { block: string; start: number; end: number }[] {
  const blocks = Array.from(
    searchedText(text).matchAll(/\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*/g),
    ({ 0: found, index }) => {
      const block = found.trimEnd();
      return { block, start: index, end: index + block.length };
    },
  );
  const last = new Map(blocks.map(({ block }, index) => [block, index]));
  const isOnce = blocks.map(({ block }, index) => last.get(block) === index);
  for (const [index, { block }] of blocks.entries()) if (!isOnce[index]) isOnce[last.get(block)!] = false;
  return blocks.filter(
    ({ block }, index) =>
      (index < edge || index >= blocks.length - edge) &&
      isOnce[index] &&
      block.length <= longestBlock &&
      !/^#{1,6} |^```/.test(block),
  );
}
