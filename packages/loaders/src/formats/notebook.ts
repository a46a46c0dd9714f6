import { toFence, type SourceDocument } from '@quiver/rag/document';
import { firstHeadingLevel, hasContent, HeadingPath } from '../structure/heading-path.js';
import { decodeText } from './decode-text.js';
import { unreadableDocument, type DocumentLoader } from './document-loader.js';

/** Characters of an output that are kept. */
const longestOutput = 400;

/**
 * Reads a Jupyter notebook as Markdown: text and code in the order of the cells, and the start of outputs that are text. Each section is a text
 * with the numbers of its first and last cell as `cell` and `endCell`, from 1.
 *
 * @see [The notebook format](https://nbformat.readthedocs.io/en/latest/format_description.html)
 */
export const loadNotebook: DocumentLoader = async (bytes, { name }) => {
  const { text } = await decodeText(bytes, name, 'utf-8');
  const notebook = record(JSON.parse(text));
  // Version 3 has its cells in work sheets.
  const sheets = notebook['worksheets'];
  const cells = Array.isArray(sheets) ? sheets.flatMap((sheet) => record(sheet)['cells'] ?? []) : notebook['cells'];
  if (!Array.isArray(cells)) throw unreadableDocument(name, 'it is not a notebook: it has no list of cells.');
  const { kernelspec, language_info: info } = record(notebook['metadata']);
  const language = String(record(kernelspec)['language'] ?? record(info)['name'] ?? '').toLowerCase();
  const docs: SourceDocument[] = [];
  const path = new HeadingPath();
  let section: { parts: string[]; cell: number; endCell: number; headings: string[]; hasContent: boolean } | undefined;
  const endSection = (): void => {
    if (!section) return;
    const { parts, headings, cell, endCell } = section;
    docs.push({ text: parts.join('\n\n'), metadata: { cell, endCell, ...(headings.length > 0 && { headings }) } });
  };
  for (const [index, value] of cells.entries()) {
    const cell = record(value);
    const part = toMarkdown(cell, language);
    if (part === '') continue;
    const level = cell['cell_type'] === 'code' ? undefined : firstHeadingLevel(part);
    // A heading stays with what follows it.
    if (!section || (level !== undefined && section.hasContent)) {
      endSection();
      section = { parts: [], cell: index + 1, endCell: index + 1, headings: path.titles(level), hasContent: false };
    }
    section.parts.push(part);
    section.endCell = index + 1;
    section.hasContent ||= hasContent(part);
    path.read(part);
  }
  endSection();
  return [{ type: 'markdown', docs }];
};

function toMarkdown(cell: Readonly<Record<string, unknown>>, language: string): string {
  const content = joined(cell['source'] ?? cell['input']).trim();
  if (content === '') return '';
  const { cell_type: type } = cell;
  if (type === 'heading') return `${'#'.repeat(Math.min(Number(cell['level']) || 1, 6))} ${content}`;
  if (type !== 'code') return content;
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'].map(outputText).filter((text) => text !== '') : [];
  return [toFence(content, language), ...outputs.map((text) => toFence(text))].join('\n\n');
}

/** Returns the start of an output as text; empty for a picture. */
function outputText(value: unknown): string {
  const { text, data, ename, evalue } = record(value);
  const whole = joined(
    text ?? record(data)['text/plain'] ?? (ename === undefined ? '' : `${String(ename)}: ${String(evalue)}`),
  ).trim();
  // The name of an object, such as a figure.
  if (/^<[^<>\n]*>$/.test(whole)) return '';
  return whole.length > longestOutput ? `${whole.slice(0, longestOutput)}…` : whole;
}

/** Returns a text that may be a list of lines. */
function joined(text: unknown): string {
  return Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : '';
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
