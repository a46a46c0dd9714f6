import {
  anyValue,
  booleanValue,
  checkOptions,
  objectOf,
  type OptionCheck,
  type OptionChecks,
  signalValue,
  stringValue,
  wholeNumber,
  invalidOptions,
  required,
} from '@quiver/core/internal';
import { canonicalJson } from '../document/content-hash.js';
import { unitePages, type PageSpan } from '../document/text-place.js';
import { bothFilters } from '../filter/index.js';
import { recordText } from '../store/record-text.js';
import { objectsByName, storeValue } from '../store/options.js';
import { toIndexRead, type IndexRead } from '../store/scope.js';
import { scanPages } from '../store/paging.js';
import { partsOf } from '../requests/parts-of.js';
import type { Cancellable, VectorFilter, VectorMatch, VectorMetadata, VectorStore } from '../store/vector-store.js';
import { joinTexts, linkChunks, toPlacedChunk, type PlacedChunk } from './chunk-chains.js';

/** How far a passage reaches beyond the chunk that matches: `'section'` is short for `{ section: true }`. */
export type PassageExpansion = 'section' | PassageExpansionOptions;

/** Limits of a passage. Only whole chunks are added, and at least one limit must be given. */
export interface PassageExpansionOptions {
  /** Whether to stay among the chunks below the same headings. A document without headings is one section. */
  section?: boolean;
  /** Number of chunks to add before the match. Default: any number, or 0 if `after` is given. */
  before?: number;
  /** Number of chunks to add after the match. Default: any number, or 0 if `before` is given. */
  after?: number;
  /**
   * Size up to which chunks are added to a match, at four UTF-16 code units per token. Default 2,000. Passages that merge can be larger
   * together, and a match is never cut.
   */
  maxTokens?: number;
}

/** Options of `expandPassages()`. */
export interface ExpandPassagesOptions extends Cancellable {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Index of the passages. */
  indexName: string;
  /** How far each passage is extended. */
  expand: PassageExpansion;
  /** Filter of the application, such as the tenant. Neighbors that do not match it are not read. Default: none. */
  filter?: VectorFilter;
  /** Settings by store, as those of a query tool, for example the namespace. */
  databaseConfig?: Readonly<Record<string, object | undefined>>;
}

/** A record that is part of a passage. */
export interface MergedRecord {
  id: string;
  /** Place in the source; absent for a record without one. */
  startIndex?: number;
  endIndex?: number;
  /** Present if the record itself matched the query. */
  score?: number;
}

/** A match whose `document`, `metadata.startIndex` and `metadata.endIndex` are those of the whole passage. */
export type ExpandedPassage<Match extends VectorMatch = VectorMatch> = Match & {
  document: string;
  /** Records of the passage, in the order of their source. */
  records: MergedRecord[];
};

/**
 * Returns the passages around matches: search small chunks, and read the section or the neighbors of those that match. Passages that
 * touch or overlap are merged. The best match of a passage decides its rank, its score, its id and its other metadata, except the pages of a PDF.
 *
 * Neighbors are read from the store with one request for up to 100 passages. Chunks of `ingest` name the chunk before them, so that
 * passages end at a chunk that was deleted, and never mix documents, slides or tenants: `document` is the verbatim part of the source
 * from `startIndex` to `endIndex`. JSON is decoded, and its chunks joined by blank lines. Other records are neighbors when
 * they have the same `source` and their places touch, overlap with equal text, or leave out at most two characters, which become a
 * space or a blank line. Records without `source`, `startIndex` and `endIndex` remain unchanged.
 *
 * @param matches - best first, as `store.query()` returns them
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, and when a `source` stands for too many records; `FILTER_INVALID`; errors of the
 *   store; the abort reason
 * @example
 * const matches = await store.query({ indexName: 'docs', queryVector, topK: 5 });
 * const passages = await expandPassages(matches, { vectorStore: store, indexName: 'docs', expand: 'section' });
 */
export async function expandPassages<Match extends VectorMatch>(
  matches: readonly Match[],
  options: ExpandPassagesOptions,
): Promise<ExpandedPassage<Match>[]> {
  checkOptions('expandPassages', options, optionChecks);
  const { vectorStore: store, expand, indexName, filter, databaseConfig, signal } = options;
  return expandMatches(matches, expand, store, toIndexRead(store, { indexName, filter, databaseConfig, signal }));
}

/** Does what {@link expandPassages} does, with options that were checked. */
export async function expandMatches<Match extends VectorMatch>(
  matches: readonly Match[],
  expand: PassageExpansion,
  store: VectorStore,
  read: IndexRead,
): Promise<ExpandedPassage<Match>[]> {
  const limits = toLimits(expand);
  if (!Array.isArray(matches)) throw invalidOptions('expandPassages() needs matches, a list of records.');
  const found = new Map<string, PlacedChunk>();
  for (const match of matches) {
    const chunk = toPlacedChunk(match);
    if (chunk && !found.has(chunk.id)) found.set(chunk.id, chunk);
  }
  const chains = linkChunks(found, await readNeighbors([...found.values()], limits.maxLength, store, read));
  const scores = new Map(matches.toReversed().map(({ id, score }) => [id, score]));
  const passages: { rank: number; chunks: readonly PlacedChunk[] }[] = [];
  const ranges = new Map<readonly PlacedChunk[], Range[]>();
  for (const [rank, match] of matches.entries()) {
    const place = chains.get(match.id);
    if (place) {
      const range = { ...growRange(place.chain, place.at, limits), rank };
      ranges.set(place.chain, [...(ranges.get(place.chain) ?? []), range]);
    } else passages.push({ rank, chunks: [] });
  }
  for (const [chain, list] of ranges)
    for (const { from, to, rank } of mergeRanges(list)) passages.push({ rank, chunks: chain.slice(from, to + 1) });
  const sorted = passages.toSorted((a, b) => a.rank - b.rank);
  return sorted.map(({ rank, chunks }) => toPassage(matches[rank] as Match, chunks, scores));
}

interface Limits {
  readonly section: boolean;
  readonly before: number;
  readonly after: number;
  /** In UTF-16 code units. */
  readonly maxLength: number;
}

const defaultMaxTokens = 2000;
const unitsPerToken = 4;
const limitsValue = objectOf<PassageExpansionOptions>({
  section: booleanValue,
  before: wholeNumber(0),
  after: wholeNumber(0),
  maxTokens: wholeNumber(1),
});

/** Accepts {@link PassageExpansion}. */
export const expandValue: OptionCheck = (value, option) => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (typeof value === 'object' && !isEmpty) return limitsValue(value, option);
  if (value === 'section') return undefined;
  return `'${option}' must be 'section', or an object of section, before, after and maxTokens, not ${isEmpty ? '{}' : `'${String(value)}'`}.`;
};

const optionChecks: OptionChecks<ExpandPassagesOptions> = {
  vectorStore: storeValue,
  indexName: stringValue,
  expand: required(expandValue, "'section', or an object of limits"),
  filter: anyValue,
  databaseConfig: objectsByName,
  signal: signalValue,
};

function toLimits(expand: PassageExpansion): Limits {
  const given = expand === 'section' ? { section: true } : expand;
  const { section = false, before, after, maxTokens = defaultMaxTokens }: PassageExpansionOptions = given;
  const other = before === undefined && after === undefined ? Number.POSITIVE_INFINITY : 0;
  return { section, before: before ?? other, after: after ?? other, maxLength: maxTokens * unitsPerToken };
}

const passagesPerRequest = 100;
const recordsPerPage = 5000;
const maxRecords = 50_000;

/** Returns the chunks of the same sources whose places are less than `maxLength` away from a match. */
async function readNeighbors(
  found: readonly PlacedChunk[],
  maxLength: number,
  store: VectorStore,
  allowed: IndexRead,
): Promise<PlacedChunk[]> {
  const trusted = bothFilters(allowed.filter, undefined);
  const neighbors: PlacedChunk[] = [];
  for (const part of partsOf(found, passagesPerRequest)) {
    // Stores have an index of `source`, and none of ranges.
    const sources = [...new Set(part.map(({ source }) => source))];
    const windows = part.map((chunk) => toWindow(chunk, maxLength));
    const both = bothFilters(trusted, { source: { $in: sources }, $or: windows });
    let count = 0;
    for await (const records of scanPages(store, { ...allowed, filter: both, limit: recordsPerPage })) {
      for (const record of records) {
        const chunk = toPlacedChunk(record);
        if (chunk) neighbors.push(chunk);
      }
      count += records.length;
      if (count > maxRecords)
        throw invalidOptions(
          `More than ${maxRecords} records of the index '${allowed.indexName}' have the sources of ${part.length} passages and places next to them. metadata.source must name one document, such as its path.`,
        );
    }
  }
  return neighbors;
}

/** Returns a condition for the chunks around a match. */
function toWindow({ source, start, end, text }: PlacedChunk, maxLength: number): Readonly<Record<string, unknown>> {
  // A decoded text is shorter than its source.
  const reach = maxLength * Math.min(20, Math.max(1, (end - start) / Math.max(1, text.length)));
  return { source, startIndex: { $lt: end + reach }, endIndex: { $gt: start - reach } };
}

/** Chunks of a chain that make a passage, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
  /** Index of the best match in the range. */
  readonly rank: number;
}

function growRange(chain: readonly PlacedChunk[], at: number, limits: Limits): { from: number; to: number } {
  const { section, before, after, maxLength } = limits;
  let [from, to] = [at, at];
  let length = chain[at]!.text.length;
  /** Adds the size of the chunk next to the last one of its side, if the limits allow it. */
  const canAdd = (next: number, last: number): boolean => {
    const [chunk, neighbor] = [chain[next], chain[last]!];
    if (!chunk || (section && !isSameSection(chunk, neighbor))) return false;
    const added =
      chunk.isVerbatim && neighbor.isVerbatim
        ? Math.max(0, next > last ? chunk.end - neighbor.end : neighbor.start - chunk.start)
        : chunk.text.length;
    if (length + added > maxLength) return false;
    length += added;
    return true;
  };
  for (let isGrowing = true; isGrowing;) {
    const count = to - from;
    if (to - at < after && canAdd(to + 1, to)) to += 1;
    if (at - from < before && canAdd(from - 1, from)) from -= 1;
    isGrowing = to - from > count;
  }
  return { from, to };
}

function isSameSection({ metadata: a }: PlacedChunk, { metadata: b }: PlacedChunk): boolean {
  return canonicalJson(a['headings']) === canonicalJson(b['headings']);
}

function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && range.from <= last.to + 1) {
      const [to, rank] = [Math.max(last.to, range.to), Math.min(last.rank, range.rank)];
      merged[merged.length - 1] = { from: last.from, to, rank };
    } else merged.push(range);
  }
  return merged;
}

function toPassage<Match extends VectorMatch>(
  match: Match,
  chunks: readonly PlacedChunk[],
  scores: ReadonlyMap<string, number>,
): ExpandedPassage<Match> {
  const withScore = (record: MergedRecord): MergedRecord => {
    const score = scores.get(record.id);
    return score === undefined ? record : { ...record, score };
  };
  const records = chunks.map(({ id, start, end }) => withScore({ id, startIndex: start, endIndex: end }));
  if (chunks.length < 2) {
    return {
      ...match,
      document: recordText(match),
      records: records.length > 0 ? records : [withScore({ id: match.id })],
    };
  }
  // The link to the chunk before the match does not describe the passage.
  const { previousChunk: _previous, textBefore: _text, ...metadata } = match.metadata;
  const startIndex = chunks[0]!.start;
  const endIndex = chunks.reduce((largest, { end }) => Math.max(largest, end), startIndex);
  const place = { ...withPages(metadata, chunks), startIndex, endIndex };
  return { ...match, metadata: place, document: joinTexts(chunks), records };
}

/** Replaces the pages of a match by those of the whole passage. Other programs may give the names of `PageSpan` another meaning. */
function withPages(metadata: VectorMetadata, chunks: readonly PlacedChunk[]): VectorMetadata {
  if (typeof metadata['page'] !== 'number') return metadata;
  const { page: _page, endPage: _endPage, box: _box, ...others } = metadata;
  return { ...others, ...unitePages(chunks.map((chunk) => chunk.metadata as PageSpan)) };
}
