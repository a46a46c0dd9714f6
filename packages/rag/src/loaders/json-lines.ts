import { toErrorMessage } from '@quiver/core';
import type { SourceDocument } from '../document/document.js';
import { readJson } from '../document/chunking/json-reader.js';
import { decodeText } from './decode-text.js';
import { unreadableDocument, type DocumentLoader } from './document-loader.js';

/** Number of lines that are reported one by one. */
const maxFailures = 1000;

/** Reads JSON Lines: one text for each record, with the number of its line as `record`. A line that is not JSON is reported. */
export const loadJsonLines: DocumentLoader = async (bytes, { name, encoding: known, onSkip }) => {
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
      if (failures.length > maxFailures)
        throw unreadableDocument(name, `more than ${maxFailures} of its lines are not JSON.`, error);
    }
  }
  if (docs.length === 0 && failures.length > 0)
    throw unreadableDocument(name, 'none of its lines is JSON.', failures[0]!.error);
  for (const { line, error } of failures)
    onSkip({
      path: `${name}#${line}`,
      reason: 'unreadable',
      error: unreadableDocument(`Line ${line} of ${name}`, toErrorMessage(error), error),
    });
  return [{ type: 'json', docs }];
};
