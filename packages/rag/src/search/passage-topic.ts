import { textAbove } from '../store/record-text.js';
import type { VectorMetadata } from '../store/vector-store.js';

/** Returns the topic of a passage: the name of its document, and its last heading. */
export function passageTopic(metadata: VectorMetadata): string | undefined {
  const { title, documentTitle, fileName, headings } = textAbove(metadata);
  const names = new Set([title || documentTitle || fileName, headings.at(-1) ?? '']);
  names.delete('');
  return names.size === 0 ? undefined : [...names].join(' › ');
}
