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

/** Returns the blocks that most of the texts have, such as the footer of all slides. */
export function findRepeated(texts: readonly Text[], { least, edge }: Repetition): ReadonlySet<string> {
  if (texts.length < leastTexts) return new Set();
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const block of new Set(blocksOf(text, edge).flatMap(({ block, isShared }) => (isShared ? [block] : []))))
      counts.set(block, (counts.get(block) ?? 0) + 1);
  return new Set([...counts].flatMap(([block, count]) => (count >= least(texts.length) ? [block] : [])));
}

/**
 * Returns a text whose repeated blocks are not searched. A heading is one of them if no other text is below it, such as the name of a site above
 * the title of each page.
 */
export function skipRepeated<T extends Text>(text: T, repeated: ReadonlySet<string>, { edge, most }: Repetition): T {
  const blocks = blocksOf(text, edge);
  let isBare = true;
  const found = blocks.toReversed().filter(({ block, isShared }) => {
    const isRepeated = isShared && repeated.has(block);
    if (!isHeading.test(block)) {
      isBare &&= isRepeated;
      return isRepeated;
    }
    const isLeftOut = isRepeated && isBare;
    isBare = true;
    return isLeftOut;
  });
  const length = found.reduce((sum, { block }) => sum + block.length, 0);
  if (found.length === 0 || length > most * searchedText(text).trim().length) return text;
  const parts = found.map(({ start, end }) => ({ start, end, kind: 'boilerplate' }));
  return { ...text, skip: [...(text.skip ?? []), ...parts].toSorted((a, b) => a.start - b.start) };
}

function searchedText({ text, skip = [] }: Text): string {
  return skip.length === 0 ? text : blankOut(text, skip);
}

const isHeading = /^#{1,6} .*$/;

interface TextBlock {
  readonly block: string;
  readonly start: number;
  readonly end: number;
  /** Whether other texts may have it too: it is short, at an end of the text, and there once, other than a label. */
  readonly isShared: boolean;
}

function blocksOf(text: Text, edge: number): TextBlock[] {
  const found = Array.from(searchedText(text).matchAll(/\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*/g), ({ 0: raw, index }) => {
    const block = raw.trimEnd();
    return { block, start: index, end: index + block.length };
  });
  const counts = new Map<string, number>();
  for (const { block } of found) counts.set(block, (counts.get(block) ?? 0) + 1);
  return found.map((one, index) => ({
    ...one,
    isShared:
      (index < edge || index >= found.length - edge) &&
      counts.get(one.block) === 1 &&
      one.block.length <= longestBlock &&
      !/^#{1,6} .*\n|^```/.test(one.block),
  }));
}
