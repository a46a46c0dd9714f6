import { explainMissing, type DocumentLoader } from './document-loader.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { readOfficeTitle, repackOffice, unpackOffice } from './office-package.js';

/**
 * Reads a Word document as Markdown through `mammoth`: headings, paragraphs, lists, tables, foot- and endnotes. Pictures and comments are
 * left out.
 */
export const loadDocx: DocumentLoader = async (bytes, options) => {
  const mammoth = await import('mammoth').catch(explainMissing('mammoth', 'DOCX'));
  const files = await unpackOffice(bytes, options);
  const archive = await repackOffice(files);
  const { convertToHtml, images } = mammoth.default;
  const { value } = await convertToHtml(
    { arrayBuffer: archive.buffer, buffer: archive } as unknown as { arrayBuffer: ArrayBuffer },
    { convertImage: images.imgElement(() => Promise.resolve({ src: '' })), externalFileAccess: false },
  );
  const text = htmlToMarkdown(value);
  return [{ type: 'markdown', docs: text === '' ? [] : [{ text, metadata: readOfficeTitle(files, options.name) }] }];
};
