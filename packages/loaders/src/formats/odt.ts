import { unreadableDocument, type DocumentLoader } from './document-loader.js';
import { MarkdownWriter } from '@quiver/rag/document';
import { readOfficeTitle } from './office-package.js';
import { attribute, readXml } from './xml.js';
import { encryptedDocument, unzip } from './zip.js';

/** Names of HTML elements for those of OpenDocument. */
const elements: ReadonlyMap<string, string> = new Map(
  Object.entries({
    p: 'p',
    list: 'ul',
    'list-item': 'li',
    'list-header': 'li',
    table: 'table',
    'table-row': 'tr',
    'table-cell': 'td',
    'covered-table-cell': 'td',
    'line-break': 'br',
    a: 'a',
  }),
);

/** Content that repeats other text, or is not part of it. */
const skipped: ReadonlySet<string> = new Set([
  'tracked-changes',
  'annotation',
  'table-of-content',
  'note-citation',
  'forms',
  'sequence-decls',
]);
const maxSpaces = 100;

/** Reads an OpenDocument text as Markdown: headings, paragraphs, lists, tables and notes. Comments, pictures and the table of contents are left out. */
export const loadOdt: DocumentLoader = async (bytes, options) => {
  const { name } = options;
  const files = await unzip(bytes, options, (path) => /^(?:content|meta|META-INF\/manifest)\.xml$/.test(path));
  const manifest = files.get('META-INF/manifest.xml');
  if (manifest) {
    readXml(manifest, name, {
      open(element) {
        if (element === 'encryption-data') throw encryptedDocument(name);
      },
    });
  }
  const content = files.get('content.xml');
  if (!content) throw unreadableDocument(name, 'it is not an OpenDocument text: content.xml is missing.');
  const text = readContent(content, name);
  return [
    { type: 'markdown', docs: text === '' ? [] : [{ text, metadata: readOfficeTitle(files, name, 'meta.xml') }] },
  ];
};

function readContent(content: Uint8Array, name: string): string {
  const writer = new MarkdownWriter();
  let isBody = false;
  let hidden = 0;
  /** Depth of notes, which stay in the paragraph that they belong to. */
  let notes = 0;
  /** Open paragraphs and headings: text elsewhere is not part of the document. */
  const paragraphs: string[] = [];
  readXml(content, name, {
    open(element, attributes) {
      if (element === 'body') isBody = true;
      if (skipped.has(element)) hidden += 1;
      if (!isBody || hidden > 0) return;
      const count = Math.min(Number(attribute(attributes, 'c')) || 1, maxSpaces);
      if (element === 'note-body') writer.text(' (');
      if (element === 's') writer.text(' '.repeat(count));
      else if (element === 'tab') writer.text('\t');
      else if (element === 'h' || element === 'p') {
        const level = Math.min(Math.max(Math.trunc(Number(attribute(attributes, 'outline-level')) || 1), 1), 6);
        paragraphs.push(notes > 0 ? '' : element === 'h' ? `h${level}` : 'p');
        if (notes === 0) writer.open(paragraphs.at(-1)!);
        else writer.text(' ');
      } else if (elements.has(element) && (notes === 0 || element === 'line-break')) {
        const href = attribute(attributes, 'href');
        const colspan =
          attribute(attributes, 'number-columns-spanned') ?? attribute(attributes, 'number-columns-repeated');
        const rowspan = attribute(attributes, 'number-rows-spanned');
        const own = { ...(href && { href }), ...(colspan && { colspan }), ...(rowspan && { rowspan }) };
        writer.open(elements.get(element)!, own);
      }
      if (element === 'note-body') notes += 1;
    },
    text(data) {
      if (paragraphs.length > 0 && hidden === 0) writer.text(data);
    },
    close(element) {
      if (skipped.has(element)) hidden -= 1;
      if (!isBody || hidden > 0) return;
      if (element === 'note-body') {
        notes -= 1;
        writer.text(')');
      } else if (element === 'h' || element === 'p') {
        const opened = paragraphs.pop();
        if (opened) writer.close(opened);
      } else if (elements.has(element) && notes === 0) writer.close(elements.get(element)!);
      if (element === 'body') isBody = false;
    },
  });
  return writer.end().text;
}
