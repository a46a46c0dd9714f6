// LangChain.js as its guides show it: a loader per format, and the recursive splitter with 1,000 characters and an overlap of 200, or with
// the size of the query string. It has no local loader for ODT, XLSX, mail, notebooks and man pages: those that are text are read as text,
// the others are left out.
import { CSVLoader } from '@langchain/community/document_loaders/fs/csv';
import { DocxLoader } from '@langchain/community/document_loaders/fs/docx';
import { EPubLoader } from '@langchain/community/document_loaders/fs/epub';
import { PDFLoader } from '@langchain/community/document_loaders/fs/pdf';
import { PPTXLoader } from '@langchain/community/document_loaders/fs/pptx';
import { HtmlToTextTransformer } from '@langchain/community/document_transformers/html_to_text';
import { TextLoader } from '@langchain/classic/document_loaders/fs/text';
import { MarkdownTextSplitter, RecursiveCharacterTextSplitter } from '@langchain/textsplitters';

const size = Number(new URL(import.meta.url).searchParams.get('size') ?? 1000);
const sizes = { chunkSize: size, chunkOverlap: 200 };
const splitter = new RecursiveCharacterTextSplitter(sizes);
const markdownSplitter = new MarkdownTextSplitter(sizes);
const loaders = { csv: CSVLoader, docx: DocxLoader, epub: EPubLoader, pdf: PDFLoader, pptx: PPTXLoader };
const textFormats = new Set(['html', 'md', 'eml', 'ipynb', 'man']);

/** Returns the chunks of a file; `undefined` for a format without a loader. */
export async function readChunks(path, format) {
  const Loader = loaders[format] ?? (textFormats.has(format) ? TextLoader : undefined);
  if (!Loader) return undefined;
  const documents = await new Loader(path).load();
  const texts = format === 'html' ? await new HtmlToTextTransformer().transformDocuments(documents) : documents;
  const chunks = await (format === 'md' ? markdownSplitter : splitter).splitDocuments(texts);
  return chunks.map(({ pageContent }) => pageContent);
}
