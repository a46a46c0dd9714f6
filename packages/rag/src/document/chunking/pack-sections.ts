import { Bond, findBond } from './bonds.js';
import {
  createPacker,
  createSizeLimit,
  type CutWindow,
  type FindCut,
  type PackOptions,
  type SizeLimit,
  type Span,
} from './pack-spans.js';
import type { Block, Section } from './sections.js';
import { findSeparatorCut } from './separator-cut.js';
import { endOfWhiteSpace, lastAtOrBefore, startOfWhiteSpace } from './text-boundary.js';

/** Splits sections that are too long between blocks, and inside a block only if the block alone is too long. */
export function packSections(
  text: string,
  blocks: readonly Block[],
  sections: readonly Section[],
  options: PackOptions,
): Span[] {
  const cuts = new BlockCuts(text, blocks, options);
  const pack = createPacker(text, options, findBlockCut(text, cuts, options), (at, start) => !cuts.isInUnit(at, start));
  return sections.flatMap(({ start, end, path, metadata }) => {
    const headings = path.length > 0 ? path.map(({ title }) => title) : undefined;
    return pack(start, end).map((span) => ({ ...span, headings, metadata }));
  });
}

/** Deeper blocks are treated as blocks of this depth. */
const maxDepth = 6;

/** Where a text can be cut between its blocks, and what stays together. */
class BlockCuts {
  readonly #text: string;
  readonly #blocks: readonly Block[];
  readonly #starts: readonly number[];
  readonly #limit: SizeLimit;

  constructor(text: string, blocks: readonly Block[], options: PackOptions) {
    this.#text = text;
    this.#blocks = blocks;
    this.#starts = blocks.map(({ start }) => start);
    this.#limit = createSizeLimit(text, options);
  }

  /** Cuts at the start of a block; inside a block that is too long, at the start of one of the blocks in it. */
  findCut(window: CutWindow): number | undefined {
    const { first, last } = window;
    const index = this.#indexAt(last);
    let deepest = 0;
    for (let at = index; this.#startOf(at) >= first; at--) deepest = Math.max(deepest, this.#blocks[at]!.depth);
    for (let depth = 0; depth <= Math.min(deepest, maxDepth); depth++) {
      const cut = this.#cutBetween(depth, index, window);
      if (cut !== undefined) return cut;
    }
    return undefined;
  }

  /**
   * Cuts at the start of a block of at most this depth, if that leaves a chunk of a reasonable size, or keeps together the blocks that the
   * limit would cut. Blocks that belong together stay together, if there is another cut.
   */
  #cutBetween(depth: number, index: number, { start, first, preferred, last }: CutWindow): number | undefined {
    const isDeeper = (at: number): boolean => depth < maxDepth && this.#blocks[at]!.depth > depth;
    let latest = index;
    while (this.#startOf(latest) >= first && isDeeper(latest)) latest--;
    for (const most of [Bond.none, Bond.weak]) {
      let at = latest;
      while (this.#startOf(at) >= first && (isDeeper(at) || this.#bondBefore(at) > most)) at--;
      const cut = this.#startOf(at);
      if (cut < first) continue;
      if (cut >= preferred) return cut;
      let next = latest + 1;
      // Blocks that are much longer than a chunk need not be read to their end.
      const far = cut + 2 * (last - start);
      while (next < this.#blocks.length && isDeeper(next) && this.#startOf(next) < far) next++;
      if (this.#limit.fits(cut, next < this.#blocks.length ? this.#startOf(next) : this.#text.length)) return cut;
    }
    return undefined;
  }

  #startOf(index: number): number {
    return index < 0 ? -1 : this.#blocks[index]!.start;
  }

  #indexAt(position: number): number {
    return lastAtOrBefore(this.#starts, position);
  }

  /** Returns what a cut between two blocks or in a block would separate. */
  bondAt(cut: number): Bond {
    const text = this.#text;
    const index = this.#indexAt(endOfWhiteSpace(text, cut, text.length));
    if (index === -1) return Bond.none;
    const { start, heading } = this.#blocks[index]!;
    if (startOfWhiteSpace(text, start, cut) <= start) return this.#bondBefore(index);
    return heading ? Bond.strong : findBond(text, cut);
  }

  /** Returns what a cut before a block would separate: a heading and its text, a list and its lead-in, or what {@link findBond} finds. */
  #bondBefore(index: number): Bond {
    const block = this.#blocks[index]!;
    const before = this.#blocks[index - 1];
    if (!before) return Bond.none;
    if (before.heading || before.kind === 'term') return Bond.strong;
    const bond = findBond(this.#text, block.start);
    return bond === Bond.none && block.kind === 'item' && before.depth < block.depth ? Bond.weak : bond;
  }

  /**
   * Returns whether a place is in a heading, in a row of a table or in code, but not at its start.
   *
   * @param chunkStart - start of the chunk that contains the place; nothing before it is read
   */
  isInUnit(at: number, chunkStart: number): boolean {
    const text = this.#text;
    const block = this.#blocks[this.#indexAt(at)];
    if (block?.kind === 'cell') return true;
    if (block && at > block.start && (block.heading || block.kind === 'code' || block.kind === 'row')) return true;
    const lineStart = chunkStart + text.slice(chunkStart, at).lastIndexOf('\n') + 1;
    const isStart = endOfWhiteSpace(text, lineStart, at) === at;
    return isStart ? findBond(text, at) === Bond.strong : text.slice(lineStart, at).includes('|');
  }
}

/** Cuts between blocks, otherwise after a line, a sentence or a word. */
function findBlockCut(text: string, cuts: BlockCuts, options: PackOptions): FindCut {
  const { fits } = createSizeLimit(text, options);
  const mayCut = (cut: number): boolean => cuts.bondAt(cut) < Bond.strong;
  const betweenLines = findSeparatorCut(text, { ...options, separators: ['\n'], mayCut });
  const sentenceOptions = { ...options, separators: [sentenceEnd], separatorPosition: 'end', mayCut } as const;
  const betweenSentences = findSeparatorCut(text, sentenceOptions);
  const betweenWords = findSeparatorCut(text, { ...options, separators: [' ', ''], mayCut });
  const anywhere = findSeparatorCut(text, { ...options, separators: ['\n', ' ', ''] });
  return (window) => {
    const cut = cuts.findCut(window);
    if (cut !== undefined) return cut;
    const { start, preferred, last } = window;
    const line = betweenLines(window);
    if (line !== undefined) {
      const lineStart = endOfWhiteSpace(text, line, text.length);
      const length = text.slice(lineStart, lineStart + 2 * (last - start)).indexOf('\n');
      if (line >= preferred || (length !== -1 && fits(line, lineStart + length))) return line;
    }
    return betweenSentences({ ...window, first: preferred }) ?? betweenWords(window) ?? anywhere(window);
  };
}

const sentenceEnd = /[.!?…]["'”’)\]]*(?=\s)|[。！？]+[」』）”’]*/g;
