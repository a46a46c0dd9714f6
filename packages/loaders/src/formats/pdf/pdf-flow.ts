import { listItem, type PdfBlock, type PdfTextBlock } from './pdf-blocks.js';
import type { ListKind } from './pdf-lists.js';
import type { PdfColumn } from './pdf-table.js';

/** A block of a document, with its parts in columns and on pages. All parts have one kind. */
export interface FlowBlock {
  /** At least one, with the index of its page. */
  readonly parts: { readonly page: number; readonly block: PdfBlock }[];
  /** Kind of the list of pages that it belongs to. */
  readonly list: ListKind | undefined;
}

/** Text that does not run with the others, in Markdown: rotated, or recognized from a picture of the page. */
export interface ExtraText {
  readonly page: number;
  readonly text: string;
}

/** Blocks at the end and at the start of a column that may be between the parts of a paragraph: notes, captions and tables. */
const mostBetween = 4;
/** Part of the size of the text below which a block is a note. */
const noteSize = 0.95;
/** Part of the width that the last line of a part of a paragraph fills. */
const fullLine = 0.7;
const fullerLine = 0.88;

/** Joins the blocks of columns and pages: paragraphs, tables and listings continue behind a break. */
export class PdfFlow {
  readonly blocks: (FlowBlock | ExtraText)[] = [];
  readonly #body: number;
  /** The blocks of the last column. */
  #last: FlowBlock[] = [];

  /** @param body - font size of the text */
  constructor(body: number) {
    this.#body = body;
  }

  /**
   * Adds the blocks of the next column.
   *
   * @param listOf - returns the kind of the list of pages that a block belongs to
   */
  addColumn(blocks: readonly PdfBlock[], page: number, listOf: (block: PdfBlock) => ListKind | undefined): void {
    const found = blocks[0] && listOf(blocks[0]) === undefined ? this.#findContinued(blocks) : undefined;
    if (found) found.open.parts.push({ page, block: blocks[found.at]! });
    const others = blocks.filter((_, index) => index !== found?.at);
    const added = others.map((block): FlowBlock => ({ parts: [{ page, block }], list: listOf(block) }));
    for (const block of added) this.blocks.push(block);
    // A column may have nothing but a part of a paragraph, which can continue once more.
    this.#last = found && found.at === blocks.length - 1 ? [...added, found.open] : added;
  }

  addExtra(text: ExtraText): void {
    this.blocks.push(text);
  }

  /** Columns of the table that the next column of text can continue. */
  get openColumns(): readonly PdfColumn[] | undefined {
    const last = this.#last.at(-1)?.parts.at(-1)?.block;
    return last?.kind === 'table' ? last.columns : undefined;
  }

  /** Returns the block of the last column that continues in the next one, and the index of its next part there. */
  #findContinued(next: readonly PdfBlock[]): { open: FlowBlock; at: number } | undefined {
    const last = this.#last.slice(-mostBetween).toReversed();
    const openAt = last.findIndex((flow) => flow.list !== undefined || !this.#isBetween(flow.parts.at(-1)!.block));
    for (const open of last.slice(0, openAt === -1 ? last.length : openAt + 1)) {
      const before = open.parts.at(-1)!.block;
      if (open.list !== undefined) return undefined;
      for (const [at, block] of next.slice(0, mostBetween).entries()) {
        if (isContinued(before, block) && (at === 0 || block.kind === 'text')) return { open, at };
        if (!this.#isBetween(block)) break;
      }
    }
    return undefined;
  }

  /** Whether a paragraph may continue behind a block. */
  #isBetween(block: PdfBlock): boolean {
    return block.kind !== 'text' || block.size < this.#body * noteSize || caption.test(block.lines[0]!);
  }
}

const caption = /^(?:figure|fig\.|table|listing|algorithm|example|abbildung|abb\.|tabelle|tab\.)\s*\d/i;
const sentenceEnd = /[.!?:]["”’»)\]]*$/;

function isContinued(block: PdfBlock, next: PdfBlock): boolean {
  if (Math.abs(block.size - next.size) >= 0.6) return false;
  if (block.kind === 'table' && next.kind === 'table') return block.table[0]!.length === next.table[0]!.length;
  if (block.kind === 'code' && next.kind === 'code') return true;
  return block.kind === 'text' && next.kind === 'text' && isTextContinued(block, next);
}

function isTextContinued(block: PdfTextBlock, next: PdfTextBlock): boolean {
  const last = block.lines.at(-1)!;
  const first = next.lines[0]!;
  if (sentenceEnd.test(last) || listItem.test(first) || caption.test(block.lines[0]!)) return false;
  if (/^["“(]?\p{Ll}/u.test(first)) return /\p{L}[-\u00AD\u2010]$/u.test(last) || block.fill >= fullLine;
  // A name or a number at the start of a line. A heading is alone on its line.
  return block.fill >= fullerLine && block.font === next.font && next.lines.length > 1;
}
