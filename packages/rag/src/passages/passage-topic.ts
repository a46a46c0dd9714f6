import type { VectorMetadata } from '../store/vector-store.js';

/** Returns the topic of a passage: the name of its document, and its last heading. */
export function passageTopic({ title, documentTitle, source, headings }: VectorMetadata): string | undefined {
  const fileName = typeof source === 'string' ? source.slice(source.lastIndexOf('/') + 1) : undefined;
  const document = [title, documentTitle, fileName].find(isText);
  const heading = Array.isArray(headings) ? headings.findLast(isText) : undefined;
  return document === undefined || document === heading ? heading : [document, heading].filter(isText).join(' › ');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
