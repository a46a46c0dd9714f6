// LlamaIndex.TS as its guides show it: the readers of `SimpleDirectoryReader` by extension, and `SentenceSplitter` with its defaults. It has
// no local reader for EPUB, ODT, PPTX and XLSX; other text is read as text, as its default reader does.
import { SentenceSplitter } from '@llamaindex/core/node-parser';
import { CSVReader } from '@llamaindex/readers/csv';
import { DocxReader } from '@llamaindex/readers/docx';
import { HTMLReader } from '@llamaindex/readers/html';
import { MarkdownReader } from '@llamaindex/readers/markdown';
import { PDFReader } from '@llamaindex/readers/pdf';
import { TextFileReader } from '@llamaindex/readers/text';

const text = new TextFileReader();
const readers = {
  csv: new CSVReader(),
  docx: new DocxReader(),
  html: new HTMLReader(),
  md: new MarkdownReader(),
  pdf: new PDFReader(),
  eml: text,
  ipynb: text,
  man: text,
};
const splitter = new SentenceSplitter();

/** Returns the chunks of a file; `undefined` for a format without a reader. */
export async function readChunks(path, format) {
  const documents = await readers[format]?.loadData(path);
  return documents && splitter.getNodesFromDocuments(documents).map((node) => node.getText());
}
