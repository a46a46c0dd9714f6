import { contextKey } from '../document/metadata-keys.js';
import type { VectorRecord } from './vector-store.js';

/** The keys of metadata that may hold the text, the first that does wins. */
export const textKeys: readonly string[] = ['text', 'content', 'pageContent', 'document'];

/** The text of a record: its document or, where a store keeps none, the usual keys of its metadata; empty when there is none. */
export function recordText({ document, metadata }: Pick<VectorRecord, 'document' | 'metadata'>): string {
  if (document !== undefined && document !== '') return document;
  const key = textKeys.find((name) => typeof metadata[name] === 'string');
  return key === undefined ? '' : (metadata[key] as string);
}

/** Returns the part of a text in which its own headings stand. */
export function startOfText(text: string): string {
  return text.slice(0, 300);
}

/**
 * The text that keyword search finds a record by: its title, its file name, the headings above it, its context, and its text, which may begin
 * with some of them. A section is about its headings, and rarely repeats them, so title, file name and headings count twice; weights 1 to 4
 * were compared in decision 0178. A context is prose that says more than the subject, and counts once.
 */
export function keywordText(record: Pick<VectorRecord, 'document' | 'metadata'>): string {
  const { title, source, headings, [contextKey]: context } = record.metadata;
  const text = recordText(record);
  if (text === '') return '';
  const fileName = typeof source === 'string' ? source.slice(source.lastIndexOf('/') + 1) : '';
  const isMissing = (part: unknown): boolean =>
    typeof part === 'string' && part !== '' && !startOfText(text).includes(part);
  const above = [title, fileName, ...(Array.isArray(headings) ? (headings as unknown[]) : [])].filter(isMissing);
  const parts = [...above, ...above, ...[context].filter(isMissing)];
  return parts.length === 0 ? text : [...parts, text].join('\n');
}
