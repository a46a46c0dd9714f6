import { contextKey } from '../document/metadata-keys.js';
import type { VectorMetadata, VectorRecord } from './vector-store.js';

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

/** Text above a text: empty strings and lists where a record has none. */
export interface TextAbove {
  readonly title: string;
  /** Title that a model gave the document. */
  readonly documentTitle: string;
  readonly source: string;
  /** Last part of the source. */
  readonly fileName: string;
  /** The outer ones first. */
  readonly headings: readonly string[];
  /** Sentences that situate the text within its document. */
  readonly context: string;
}

/** Returns the text above a text. Metadata of applications can have any values under these keys. */
export function textAbove(metadata: VectorMetadata): TextAbove {
  const { title, documentTitle, source: path, headings, [contextKey]: context } = metadata as Record<string, unknown>;
  const source = toText(path);
  return {
    title: toText(title),
    documentTitle: toText(documentTitle),
    source,
    fileName: source.slice(source.lastIndexOf('/') + 1),
    headings: Array.isArray(headings) ? headings.map(toText).filter((heading) => heading !== '') : [],
    context: toText(context),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' && value.trim() !== '' ? value : '';
}

/**
 * The text that keyword search finds a record by: its title, its file name, the headings above it, its context, and its text, which may begin
 * with some of them. A section is about its headings, and rarely repeats them, so title, file name and headings count twice; weights 1 to 4
 * were compared in decision 0178. A context is prose that says more than the subject, and counts once.
 */
export function keywordText(record: Pick<VectorRecord, 'document' | 'metadata'>): string {
  const text = recordText(record);
  if (text === '') return '';
  const { title, fileName, headings, context } = textAbove(record.metadata);
  const start = startOfText(text);
  const isMissing = (part: string): boolean => part !== '' && !start.includes(part);
  const above = [title, fileName, ...headings].filter(isMissing);
  return [...above, ...above, ...[context].filter(isMissing), text].join('\n');
}
