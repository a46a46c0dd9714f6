import { codeLanguages, type CodeLanguage } from '@quiver/rag/document';
import type { SourceDocument } from '@quiver/rag/document';
import { decodeText } from './decode-text.js';
import { unreadableDocument, type DocumentLoader } from './document-loader.js';

const languageNames: Readonly<Record<string, CodeLanguage>> = {
  javascript: 'js',
  typescript: 'ts',
  'c++': 'cpp',
  'c#': 'csharp',
  python3: 'python',
};

/**
 * Reads a Jupyter notebook: its text as one document and its code as another, each cell with its number, from 1, and its kind. Outputs are
 * left out.
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
  const language = String(record(kernelspec)['language'] ?? record(info)['name'] ?? 'python').toLowerCase();
  const codeLanguage = languageNames[language] ?? codeLanguages.find((known) => known === language);
  const docs: Record<'text' | 'code', SourceDocument[]> = { text: [], code: [] };
  for (const [index, value] of cells.entries()) {
    const cell = record(value);
    const source = cell['source'] ?? cell['input'] ?? '';
    const content = Array.isArray(source) ? source.join('') : String(source);
    if (content.trim() === '') continue;
    const cellType = String(cell['cell_type']);
    const heading = cellType === 'heading' ? `${'#'.repeat(Math.min(Number(cell['level']) || 1, 6))} ` : '';
    docs[cellType === 'code' ? 'code' : 'text'].push({
      text: heading + content,
      metadata: { cell: index + 1, cellType },
    });
  }
  return [
    { type: 'markdown' as const, docs: docs.text },
    { type: 'text' as const, docs: docs.code, ...(codeLanguage && { language: codeLanguage }) },
  ].filter((document) => document.docs.length > 0);
};

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
