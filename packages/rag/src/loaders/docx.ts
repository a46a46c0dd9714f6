import { explainMissing, type DocumentLoader } from './document-loader.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { readOfficeTitle } from './office-title.js';
import { unzip } from './zip.js';

/**
 * Reads a Word document as Markdown through `mammoth`: headings, paragraphs, lists, tables, foot- and endnotes. Pictures and comments are
 * left out.
 */
export const loadDocx: DocumentLoader = async (bytes, options) => {
  const mammoth = await import('mammoth').catch(explainMissing('mammoth', 'DOCX'));
  const { zipSync } = await import('fflate').catch(explainMissing('fflate', 'DOCX'));
  // The parser has no limit on sizes: it receives the text parts after they were unpacked within the limit.
  const files = await unzip(bytes, options, (path) => /\.(?:xml|rels)$/i.test(path));
  const archive = zipSync(Object.fromEntries(files), { level: 0 });
  const { convertToHtml, images } = mammoth.default;
  const { value } = await convertToHtml(
    { arrayBuffer: archive.buffer, buffer: archive } as unknown as { arrayBuffer: ArrayBuffer },
    { convertImage: images.imgElement(() => Promise.resolve({ src: '' })), externalFileAccess: false },
  );
  const text = htmlToMarkdown(value);
  return [{ type: 'markdown', docs: text === '' ? [] : [{ text, metadata: readOfficeTitle(files, options.name) }] }];
};
