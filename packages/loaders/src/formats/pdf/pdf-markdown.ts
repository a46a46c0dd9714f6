import type { SkippedText, TextPlace } from '@quiver/rag/document';
import { readBlocks, type PdfBlock, type PdfListing, type PdfTableBlock, type PdfTextBlock } from './pdf-blocks.js';
import { PdfFlow, type ExtraText, type FlowBlock } from './pdf-flow.js';
import { toRows, type PdfPage } from './pdf-fragments.js';
import { findHeadings, type HeadingCandidate } from './pdf-headings.js';
import { isEntry, kindOfPage, type ListKind, type PageKind } from './pdf-lists.js';
import type { PdfOutline } from './pdf-outline.js';
import { splitRegions } from './pdf-regions.js';
import { findRunningText } from './pdf-running.js';
import { readStyle } from './pdf-style.js';
import { joinLines, markText, renderListing, renderTable, TextWriter } from './pdf-text.js';

/** The text of a document as Markdown. */
export interface PdfText {
  readonly text: string;
  readonly places: readonly TextPlace[];
  /** Tables of contents and indexes; headers and footers. */
  readonly skip: readonly SkippedText[];
}

/**
 * Writes a PDF document as one text in Markdown: in reading order, with headings by outline, size, font and number, tables and listings by
 * geometry, and words joined that are hyphenated at the end of a line. Paragraphs, tables and listings continue behind columns and pages.
 * Headers and footers are at the end of the text, each once.
 *
 * @param recognized - texts of scanned pages by their indexes
 */
export function toMarkdown(
  pages: readonly PdfPage[],
  outline: PdfOutline = new Map(),
  recognized: ReadonlyMap<number, string> = new Map(),
): PdfText {
  const style = readStyle(pages);
  const running = findRunningText(pages, style.body, outline);
  const flow = new PdfFlow(style.body);
  let list: PageKind | undefined;
  for (const [page, { segments, rotated }] of pages.entries()) {
    const own = segments.filter((segment) => !running.segments.has(segment));
    const rows = toRows(own);
    let columns = splitRegions(own);
    let kind = kindOfPage(rows, pages.length, list);
    // Page numbers look like a column of the page.
    if (kind !== undefined) columns = [rows];
    else if (columns.length > 1) kind = kindOfPage(columns.flat(), pages.length, list);
    list = kind;
    const listOf = (block: PdfBlock): ListKind | undefined =>
      kind === 'some contents' ? (isContents(block) ? 'contents' : undefined) : kind;
    for (const rows of columns) flow.addColumn(readBlocks(rows, flow.openColumns), page, listOf);
    const extra = [rotated.join(' '), recognized.get(page) ?? ''].filter(Boolean).join('\n\n');
    if (extra !== '') flow.addExtra({ page, text: extra });
  }
  const texts = readTexts(flow.blocks, style.words);
  const candidates = [...texts].flatMap(([flowed, text]) => (flowed.list === undefined ? [text] : []));
  const levels = findHeadings(candidates, style, outline);
  const writer = new TextWriter();
  for (const flowed of flow.blocks) {
    if ('text' in flowed) {
      writer.add([flowed.text], [{ page: flowed.page }]);
      continue;
    }
    const text = texts.get(flowed);
    const places = flowed.parts.map(({ page, block: { box } }) => ({ page, box }));
    writer.add(text ? markText(text.pieces, levels.get(text)) : renderParts(flowed), places, flowed.list);
  }
  if (running.lines.length > 0) writer.add([running.lines.join('\n')], [], 'boilerplate');
  return writer.end();
}

function isContents(block: PdfBlock): boolean {
  return block.kind === 'text' && isEntry(block.lines.at(-1)!);
}

interface FlowText extends HeadingCandidate {
  /** The text of each part. */
  readonly pieces: readonly string[];
}

function readTexts(blocks: readonly (FlowBlock | ExtraText)[], words: ReadonlySet<string>): Map<FlowBlock, FlowText> {
  const texts = new Map<FlowBlock, FlowText>();
  for (const [index, flowed] of blocks.entries()) {
    if ('text' in flowed) continue;
    const [{ page, block }] = flowed.parts as [FlowBlock['parts'][0]];
    if (block.kind !== 'text') continue;
    const pieces = joinLines(
      // All parts have the kind of the first.
      flowed.parts.map((part) => (part.block as PdfTextBlock).lines),
      words,
    );
    const following = blocks[index + 1];
    const next = following && 'parts' in following ? following.parts[0]?.block : undefined;
    texts.set(flowed, { block, text: pieces.join(''), page, next, pieces });
  }
  return texts;
}

/** Renders a table or a listing. */
function renderParts({ parts }: FlowBlock): string[] {
  const blocks = parts.map(({ block }) => block);
  // All parts have the kind of the first.
  return blocks[0]!.kind === 'table' ? renderTable(blocks as PdfTableBlock[]) : renderListing(blocks as PdfListing[]);
}
