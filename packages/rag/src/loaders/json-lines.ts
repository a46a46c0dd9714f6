import { toErrorMessage } from '@quiver/core';
import type { SourceDocument } from '../document/document.js';
import { readJson } from '../document/chunking/json-reader.js';
import { decodeText } from './decode-text.js';
import { unreadableDocument, type DocumentLoader } from './document-loader.js';
import { textLoader } from './text.js';

/** Number of lines that are reported one by one. With more, the file is read as a whole. */
const maxFailures = 1000;

const loadJson = textLoader('json');
const loadCode = textLoader('text', 'js');

/**
 * Reads JSON Lines: one text for each record, with the number of its line as `record`. A line that is not JSON is reported. A file
 * without such lines, for example with records over several lines, is read as a whole.
 */
export const loadJsonLines: DocumentLoader = async (bytes, options) => {
  const { name, encoding: known, onSkip } = options;
  const { text, encoding } = await decodeText(bytes, name, known);
  const docs: SourceDocument[] = [];
  const failures: { line: number; error: unknown }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const record = line.trim();
    if (record === '') continue;
    try {
      // Rejects brackets that are not closed without the tree that the chunker needs.
      JSON.parse(record);
      readJson(record);
      docs.push({ text: record, metadata: { record: index + 1, ...(encoding !== 'utf-8' && { encoding }) } });
    } catch (error) {
      failures.push({ line: index + 1, error });
      if (failures.length > maxFailures) return loadWhole(text, bytes, options);
    }
  }
  if (docs.length === 0 && failures.length > 0) return loadWhole(text, bytes, options);
  for (const { line, error } of failures)
    onSkip({
      path: `${name}#${line}`,
      reason: 'unreadable',
      error: unreadableDocument(`Line ${line} of ${name}`, toErrorMessage(error), error),
    });
  return [{ type: 'json', docs }];
};

function loadWhole(text: string, ...input: Parameters<DocumentLoader>): ReturnType<DocumentLoader> {
  try {
    // Rejects brackets that are not closed, as above.
    JSON.parse(text);
  } catch {
    return loadCode(...input);
  }
  return loadJson(...input);
}
