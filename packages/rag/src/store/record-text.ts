import type { VectorRecord } from './vector-store.js';

/** The keys of metadata that may hold the text, the first that does wins. */
export const textKeys: readonly string[] = ['text', 'content', 'pageContent', 'document'];

/** The text of a record: its document or, where a store keeps none, the usual keys of its metadata; empty when there is none. */
export function recordText({ document, metadata }: Pick<VectorRecord, 'document' | 'metadata'>): string {
  if (document !== undefined && document !== '') return document;
  const key = textKeys.find((name) => typeof metadata[name] === 'string');
  return key === undefined ? '' : (metadata[key] as string);
}
