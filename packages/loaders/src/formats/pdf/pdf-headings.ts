import type { Block, Style } from './pdf-blocks.js';

/** Levels of headings, by the number of their page and their title as `titleKey` returns it. */
export type Outline = ReadonlyMap<number, ReadonlyMap<string, number>>;

const [longestHeading, longestTitle, mostLines, maxLevel] = [200, 100, 3, 6];
const chapter = /^(\d{1,3}(?:\.\d{1,3}){0,4})\.?\s+\p{L}/u;

/**
 * Returns the levels of headings: those of the outline; or of text that is larger than paragraphs; or, below both, short bold lines above text
 * that is not indented, as a definition is below its term.
 *
 * @param texts - lines of the blocks
 */
export function findHeadings(
  blocks: readonly Block[],
  { body, headings }: Style,
  outline: Outline,
  texts: ReadonlyMap<Block, readonly string[]>,
): Map<Block, number> {
  const levels = new Map<Block, number>();
  const titles = new Map<Block, number>();
  let deepest = 0;
  for (const [index, block] of [...blocks.entries()].toReversed()) {
    if (block.kind !== 'text' || block.list !== undefined || block.lines.length > mostLines) continue;
    const text = texts.get(block)!.join('');
    const { page, size, left } = block.lines[0]!;
    if (text.length > longestHeading || !/\p{L}/u.test(text) || /^(?:\w ){0,20}\w$/.test(text)) continue;
    const level = outline.get(page)?.get(titleKey(text)) ?? headings.indexOf(size) + 1;
    const next = blocks[index + 1];
    if (level > 0) levels.set(block, Math.min(maxLevel, level));
    else if (next && text.length <= longestTitle && size >= body * 0.95 && isTitle(block, text)) {
      const [under] = next.lines;
      const isHeaded = levels.has(next) || titles.has(next) || !under || under.left < left + size * 1.8;
      if (isHeaded) titles.set(block, chapter.exec(text)?.[1]?.split('.').length ?? 0);
    }
    deepest = Math.max(deepest, level);
  }
  const least = Math.min(...[...titles.values()].filter((depth) => depth > 0));
  // A single one is not the style of the document.
  for (const [block, depth] of titles.size > 1 ? titles : [])
    levels.set(block, Math.min(maxLevel, deepest + 1 + Math.max(0, depth - least)));
  return levels;
}

function isTitle({ lines }: Block, text: string): boolean {
  const isBold = lines.every(({ runs }) => runs.every(({ font }) => font.isBold));
  return isBold && /^["“(¿¡]?[\p{Lu}\p{Lo}\d]/u.test(text) && !/[.,;:!?]$/.test(text);
}

/** Returns what is equal in a bookmark and in the heading on the page: no numbers in front, no spaces and marks. */
export function titleKey(title: string): string {
  const plain = title.normalize('NFKC').toLowerCase();
  const number =
    /^(?:(?:chapter|appendix|part|section)\s+)?(?:(?:\d+(?:\.\d+)*[.:]?|[a-z](?:\.\d+)+|[ivxlc]{1,6}[.:])\s+(?=\S))?/;
  return plain.replace(number, '').replace(/[^\p{L}\p{N}]+/gu, '');
}
