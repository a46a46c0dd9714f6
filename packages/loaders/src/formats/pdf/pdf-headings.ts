import { headingSize, type Block, type Style, type TextBlock } from './pdf-blocks.js';

/** Levels of headings, by the number of their page and their title as `titleKey` returns it. */
export type Outline = ReadonlyMap<number, ReadonlyMap<string, number>>;

const longestHeading = 200;
const longestTitle = 100;
const maxLevel = 6;
/** Least number of bold titles of a document. */
const leastTitles = 2;
const chapter = /^(\d{1,3}(?:\.\d{1,3}){0,4})\.?\s+\p{L}/u;

/**
 * Returns the levels of headings: those of the outline; or of text that is larger than paragraphs; or, below both, short bold lines above text
 * that is not indented, as a definition is below its term.
 *
 * @param textOf - returns the text of a block
 */
export function findHeadings(
  blocks: readonly Block[],
  { body, headings }: Style,
  outline: Outline,
  textOf: (block: TextBlock) => string,
): Map<Block, number> {
  const levels = new Map<Block, number>();
  const titles: { block: TextBlock; text: string }[] = [];
  const headed = new Set<Block>();
  let deepest = 0;
  for (const [index, block] of [...blocks.entries()].toReversed()) {
    if (block.kind !== 'text' || block.list !== undefined || block.lines.length > 3) continue;
    const text = textOf(block);
    if (text.length > longestHeading || !/\p{L}/u.test(text) || /^(?:\w ){0,20}\w$/.test(text)) continue;
    const [first] = block.lines as [TextBlock['lines'][0]];
    const level = outline.get(first.page)?.get(titleKey(text)) ?? headings.indexOf(first.size) + 1;
    if (level > 0 && first.size >= body * 0.95) {
      levels.set(block, Math.min(maxLevel, level));
      deepest = Math.max(deepest, level);
      headed.add(block);
    } else if (isTitle(block, text, blocks[index + 1], body, headed)) {
      titles.push({ block, text });
      headed.add(block);
    }
  }
  const depths = titles.map(({ text }) => depthOf(text)).filter((depth) => depth > 0);
  if (titles.length < leastTitles) return levels;
  for (const { block, text } of titles)
    levels.set(block, Math.min(maxLevel, deepest + 1 + Math.max(0, depthOf(text) - Math.min(...depths))));
  return levels;
}

function isTitle(
  { lines }: TextBlock,
  text: string,
  next: Block | undefined,
  body: number,
  headed: ReadonlySet<Block>,
): boolean {
  if (!next || !lines.every(({ runs }) => runs.every(({ font }) => font.isBold)) || text.length > longestTitle)
    return false;
  if (lines[0]!.size < body * 0.95 || lines[0]!.size >= body * headingSize) return false;
  if (!/^["“(¿¡]?[\p{Lu}\p{Lo}\d]/u.test(text) || /[.,;:!?]$/.test(text)) return false;
  if (next.kind !== 'text' || headed.has(next)) return true;
  return next.lines[0]!.left < lines[0]!.left + lines[0]!.size * 1.8 || next.lines.at(-1)!.left < lines[0]!.left + 2;
}

function depthOf(text: string): number {
  return chapter.exec(text)?.[1]?.split('.').length ?? 0;
}

/** Returns what is equal in a bookmark and in the heading on the page: no numbers in front, no spaces and marks. */
export function titleKey(title: string): string {
  return title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(?:chapter|appendix|part|section|kapitel|anhang)\s+/, '')
    .replace(/^(?:\d+(?:\.\d+)*[.:]?|[a-z](?:\.\d+)+|[ivxlc]{1,6}[.:])\s+(?=\S)/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
