import { limitExceeded, type DocumentLoader } from './document-loader.js';
import { htmlToMarkdown } from '@quiver/rag/document';
import { readOfficeTitle, repackOffice, unpackOffice } from './office-package.js';
import type { UnpackedFiles } from './zip.js';

/** Number of XML elements. The parser keeps all of them, and takes about 2 KB for each. */
const maxElements = 1_000_000;

/**
 * Reads a Word document as Markdown through `mammoth`: headings, paragraphs, lists, tables, foot- and endnotes. Pictures and comments are
 * left out.
 */
export const loadDocx: DocumentLoader = async (bytes, options) => {
  const mammoth = await import('mammoth');
  const files = await unpackOffice(bytes, options);
  requireElements(files, options.name);
  const archive = await repackOffice(files);
  const { convertToHtml, images } = mammoth.default;
  const { value } = await convertToHtml(
    { arrayBuffer: archive.buffer, buffer: archive } as unknown as { arrayBuffer: ArrayBuffer },
    { convertImage: images.imgElement(() => Promise.resolve({ src: '' })), externalFileAccess: false },
  );
  const { text, skip } = htmlToMarkdown(value, { name: options.name });
  const metadata = readOfficeTitle(files, options.name);
  return [{ type: 'markdown', docs: text === '' ? [] : [{ text, skip, metadata }] }];
};

function requireElements(files: UnpackedFiles, name: string): void {
  let elements = 0;
  for (const content of files.values()) {
    for (let at = content.indexOf(tagStart); at !== -1; at = content.indexOf(tagStart, at + 1))
      if (content[at + 1] !== slash) elements += 1;
  }
  if (elements <= maxElements) return;
  const problem = `it has ${elements} XML elements, and the limit is ${maxElements}`;
  throw limitExceeded(name, problem, { limit: 'elements', max: maxElements, value: elements });
}

const tagStart = '<'.charCodeAt(0);
const slash = '/'.charCodeAt(0);
