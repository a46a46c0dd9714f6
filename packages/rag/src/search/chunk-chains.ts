import { canonicalJson } from '../document/content-hash.js';
import { partKeys, vectorOfKey } from '../document/metadata-keys.js';
import { recordText } from '../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../store/vector-store.js';

/** A record with its place in a source. */
export interface PlacedChunk {
  readonly id: string;
  readonly text: string;
  /** A value that a filter can compare. */
  readonly source: string | number | boolean;
  readonly start: number;
  readonly end: number;
  /** Whether the text has the length of its place; the text of JSON is decoded. */
  readonly isVerbatim: boolean;
  /** Id of the chunk before it, as `ingest` stores it; `null` for the first one of a text, `undefined` for records of other programs. */
  readonly previous: string | null | undefined;
  /** Source between the previous chunk and this one. */
  readonly textBefore: string | undefined;
  readonly metadata: VectorMetadata;
}

/** Returns a record with its place; `undefined` for one without source and place, and for a further vector of a chunk. */
export function toPlacedChunk(record: VectorRecord): PlacedChunk | undefined {
  const { id, metadata } = record;
  const { source, startIndex: start, endIndex: end, previousChunk, textBefore, embedder } = metadata;
  if (metadata[vectorOfKey] !== undefined || !isPlace(start) || !isPlace(end) || end < start) return undefined;
  if (typeof source !== 'string' && typeof source !== 'boolean' && !Number.isFinite(source)) return undefined;
  const text = recordText(record);
  const first = embedder === undefined ? undefined : null;
  return {
    id,
    text,
    source,
    start,
    end,
    isVerbatim: text.length === end - start,
    previous: typeof previousChunk === 'string' ? previousChunk : first,
    textBefore: typeof textBefore === 'string' ? textBefore : undefined,
    metadata,
  };
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A chunk in a chain of neighbors. */
export interface ChainPlace {
  readonly chain: readonly PlacedChunk[];
  readonly at: number;
}

/**
 * Returns the chains of neighbors that contain the matches. Where two chunks follow the same one, which happens while a document is
 * updated, a match is preferred.
 */
export function linkChunks(
  matches: ReadonlyMap<string, PlacedChunk>,
  neighbors: readonly PlacedChunk[],
): Map<string, ChainPlace> {
  const chunks = new Map(neighbors.map((chunk) => [chunk.id, chunk]));
  for (const id of matches.keys()) chunks.delete(id);
  // Matches are last, so that their links replace others. They are as the query found them.
  for (const [id, chunk] of matches) chunks.set(id, chunk);
  const previous = new Map<string, PlacedChunk>();
  const next = new Map<string, PlacedChunk>();
  const link = (before: PlacedChunk, after: PlacedChunk): void => {
    const replaced = next.get(before.id);
    if (replaced) previous.delete(replaced.id);
    next.set(before.id, after);
    previous.set(after.id, before);
  };
  for (const chunk of chunks.values()) {
    const before = typeof chunk.previous === 'string' ? chunks.get(chunk.previous) : undefined;
    if (before && before.start <= chunk.start && before.source === chunk.source) link(before, chunk);
  }
  for (const [before, after] of neighborsByPlace([...chunks.values()])) link(before, after);
  const places = new Map<string, ChainPlace>();
  for (const match of matches.values()) {
    if (places.has(match.id)) continue;
    const seen = new Set([match]);
    let first = match;
    for (let at = previous.get(first.id); at && !seen.has(at); at = previous.get(first.id)) {
      seen.add(at);
      first = at;
    }
    const chain: PlacedChunk[] = [];
    for (let at: PlacedChunk | undefined = first; at && !places.has(at.id); at = next.get(at.id)) {
      places.set(at.id, { chain, at: chain.length });
      chain.push(at);
    }
  }
  return places;
}

/** Number of chunks to look back for a neighbor; more than one where versions of a document are mixed. */
const lookBack = 8;
/** Characters that other programs leave out between two chunks, such as a blank line. */
const maxGap = 2;

function* neighborsByPlace(chunks: readonly PlacedChunk[]): Generator<[PlacedChunk, PlacedChunk]> {
  const groups = new Map<string, PlacedChunk[]>();
  for (const chunk of chunks) {
    if (chunk.previous !== undefined) continue;
    const key = canonicalJson([chunk.source, ...partKeys.map((name) => chunk.metadata[name])]);
    const group = groups.get(key);
    if (group) group.push(chunk);
    else groups.set(key, [chunk]);
  }
  for (const group of groups.values()) {
    group.sort((a, b) => a.start - b.start || a.end - b.end || (a.id < b.id ? -1 : 1));
    const taken = new Set<PlacedChunk>();
    for (const [at, after] of group.entries()) {
      const candidates = group.slice(Math.max(0, at - lookBack), at).toReversed();
      const before = candidates.find((chunk) => !taken.has(chunk) && touches(chunk, after));
      if (!before) continue;
      taken.add(before);
      yield [before, after];
    }
  }
}

function touches(before: PlacedChunk, after: PlacedChunk): boolean {
  if (before.start >= after.start || before.end >= after.end || after.start - before.end > maxGap) return false;
  const overlap = before.end - after.start;
  if (overlap <= 0 || !before.isVerbatim || !after.isVerbatim) return true;
  return before.text.endsWith(after.text.slice(0, overlap));
}

/** Returns the text of neighbors. It is verbatim if their texts are, and if the text between them is known. */
export function joinTexts(chunks: readonly PlacedChunk[]): string {
  const parts: string[] = [];
  let last: PlacedChunk | undefined;
  for (const chunk of chunks) {
    if (last && chunk.isVerbatim && last.isVerbatim) {
      // A chunk inside the one before it adds nothing.
      if (chunk.end <= last.end) continue;
      const gap = chunk.start - last.end;
      parts.push(gap > 0 ? between(chunk, gap) + chunk.text : chunk.text.slice(-gap));
    } else if (last) {
      const repeated = overlapOf(last.text, chunk.text);
      parts.push(repeated > 0 ? chunk.text.slice(repeated) : `\n\n${chunk.text}`);
    } else parts.push(chunk.text);
    last = chunk;
  }
  return parts.join('');
}

function between({ textBefore }: PlacedChunk, gap: number): string {
  if (textBefore?.length === gap) return textBefore;
  return gap === 1 ? ' ' : '\n\n';
}

/** Chunks of decoded texts repeat at most so many characters. */
const longestOverlap = 1000;
const shortestOverlap = 10;

/** Length of the end of a text that is the beginning of another. A few equal characters prove nothing. */
function overlapOf(text: string, next: string): number {
  for (let length = Math.min(longestOverlap, text.length, next.length); length >= shortestOverlap; length -= 1) {
    if (text.endsWith(next.slice(0, length))) return length;
  }
  return 0;
}
