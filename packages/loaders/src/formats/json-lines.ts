import { toErrorMessage } from '@quiver/core';
import type { SourceDocument } from '@quiver/rag/document';
import { decodeText } from './decode-text.js';
import { requireTexts, unreadableDocument, type DocumentLoader } from './document-loader.js';
import { textLoader } from './text.js';

/** Number of lines that are reported one by one. With more, the file is read as a whole. */
const maxFailures = 1000;

const loadWhole = textLoader('json');

/**
 * Reads JSON Lines: one text for each record, with the number of its line as `record`. A line that is not JSON is reported. A file
 * without such lines, for example with records over several lines, is read as a whole.
 */
export const loadJsonLines: DocumentLoader = async (bytes, options) => {
  const { name, encoding, onSkip } = options;
  const { text, metadata } = await decodeText(bytes, name, encoding);
  const docs: SourceDocument[] = [];
  const failures: { line: number; error: unknown }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const record = line.trim();
    if (record === '') continue;
    try {
      JSON.parse(record);
    } catch (error) {
      failures.push({ line: index + 1, error });
      if (failures.length > maxFailures) return loadWhole(bytes, options);
      continue;
    }
    docs.push({ text: record, metadata: { record: index + 1, ...metadata } });
    requireTexts(docs.length, name);
  }
  if (docs.length === 0 && failures.length > 0) return loadWhole(bytes, options);
  for (const { line, error } of failures)
    onSkip({
      path: `${name}#${line}`,
      reason: 'unreadable',
      error: unreadableDocument(`Line ${line} of ${name}`, toErrorMessage(error), error),
    });
  return [{ type: 'json', docs }];
};
