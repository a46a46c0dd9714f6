import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { otherPlaces, type OtherPlace } from '../search/merge-copies.js';
import { recordText } from '../store/record-text.js';
import type { VectorFilter, VectorMetadata, VectorStore } from '../store/index.js';
import { scanPages } from '../store/paging.js';
import { describeTarget, toLetters, type CaseTarget, type RetrievalCase } from './cases.js';
import type { JudgedRanking } from './metrics.js';

/** A result of retrieval: a `VectorMatch`, a source of a query tool, a chunk, or your own object. */
export interface RetrievedResult {
  id?: string;
  /** Text of the result. Default: `document`, or the text in the metadata. */
  text?: string;
  document?: string;
  score?: number;
  /** How much of what the question asks for is in the result, from 0 to 1. */
  confidence?: number;
  /** With `source`, and `startIndex` and `endIndex` for cases that are bound to places. */
  metadata?: VectorMetadata;
}

/** Returns the text of a result, empty when there is none. */
export function textOf({ text, document, metadata }: RetrievedResult): string {
  const given: unknown = text ?? recordText({ document: document ?? '', metadata: metadata ?? {} });
  return typeof given === 'string' ? given : '';
}

/** Start and end in what a target consists of: letters of a quote, characters of a document, or one record. */
type Range = readonly [start: number, end: number];

interface Target {
  readonly target: CaseTarget;
  /** Letters and digits of the quote; empty for other targets. */
  readonly letters: string;
  /** Ranges that results must cover together. */
  readonly needed: readonly Range[];
}

/** A case, and what the chunks of an index contain of it. */
export interface LocatedCase {
  readonly question: string;
  readonly targets: readonly Target[];
}

interface Candidate {
  readonly result: RetrievedResult;
  readonly letters: () => string;
}

function toCandidate(result: RetrievedResult): Candidate {
  let letters: string | undefined;
  return { result, letters: () => (letters ??= toLetters(textOf(result))) };
}

/** The ranges of the target that a result contains, and whether the result counts as relevant. */
interface Overlap {
  readonly ranges: readonly Range[];
  readonly isRelevant: boolean;
}

/**
 * Returns what a result contains of a target. The result is relevant when the common part is at least half of the target or of the
 * result: a chunk that only touches a quote is not.
 */
function findOverlap({ target, letters }: Target, { result, letters: lettersOf }: Candidate): Overlap | undefined {
  const places = [{ ...result.metadata, id: result.id ?? '' } as OtherPlace, ...otherPlaces(result.metadata ?? {})];
  if (target.id !== undefined) return places.some(({ id }) => id === target.id) ? wholeRecord : undefined;
  const ofSource = target.source === undefined ? places : places.filter(({ source }) => source === target.source);
  if (ofSource.length === 0) return undefined;
  if (target.quote !== undefined) {
    return toOverlap(findQuote(letters, lettersOf()), letters.length, lettersOf().length);
  }
  if (target.startIndex === undefined) return wholeRecord;
  const overlaps = ofSource.flatMap((place) => {
    const { startIndex, endIndex } = place as { startIndex: number; endIndex: number };
    const range: Range = [Math.max(target.startIndex, startIndex), Math.min(target.endIndex, endIndex)];
    return range[0] < range[1] ? [{ range, length: endIndex - startIndex }] : [];
  });
  const [first] = overlaps;
  const ranges = overlaps.map(({ range }) => range);
  return first && toOverlap(ranges, target.endIndex - target.startIndex, first.length);
}

const wholeRecord: Overlap = { ranges: [[0, 1]], isRelevant: true };

function toOverlap(ranges: readonly Range[], ofTarget: number, ofResult: number): Overlap | undefined {
  if (ranges.length === 0) return undefined;
  const longest = Math.max(...ranges.map(([start, end]) => end - start));
  return { ranges, isRelevant: longest * 2 >= Math.min(ofTarget, ofResult) };
}

/**
 * Returns the letters of a quote that a text contains: all, each place of the whole text, or those at its start and at its end. A text
 * between two places of the quote has both.
 */
function findQuote(quote: string, text: string): Range[] {
  if (text === '') return [];
  if (text.includes(quote)) return [[0, quote.length]];
  const ranges: Range[] = [];
  for (let at = quote.indexOf(text); at !== -1; at = quote.indexOf(text, at + 1)) ranges.push([at, at + text.length]);
  if (ranges.length > 0) return ranges;
  const atEnd = longestJoint(text, quote);
  const atStart = longestJoint(quote, text);
  if (atEnd > 0) ranges.push([0, atEnd]);
  if (atStart > 0) ranges.push([quote.length - atStart, quote.length]);
  return ranges;
}

/** Returns the length of the longest end of one text that is the start of another. */
function longestJoint(one: string, other: string): number {
  for (let length = Math.min(one.length, other.length); length > 0; length -= 1) {
    // Compares one character before it creates a string.
    if (one[one.length - length] === other[0] && one.endsWith(other.slice(0, length))) return length;
  }
  return 0;
}

function addRange(ranges: readonly Range[], [start, end]: Range): readonly Range[] {
  const apart = ranges.filter(([from, to]) => {
    if (to < start || from > end) return true;
    start = Math.min(start, from);
    end = Math.max(end, to);
    return false;
  });
  return [...apart, [start, end] as const].sort((a, b) => a[0] - b[0]);
}

function covers(ranges: readonly Range[], needed: readonly Range[]): boolean {
  return needed.every(([start, end]) => ranges.some(([from, to]) => from <= start && end <= to));
}

/**
 * Compares results with a case. A target is found at the rank at which the results so far contain all of it together; a quote that
 * two chunks share needs both.
 *
 * @param where - the configuration, for messages
 * @throws `OPTIONS_INVALID` when a result lacks the text or the place that the case is bound to
 */
export function judge(
  { question, targets }: LocatedCase,
  results: readonly RetrievedResult[],
  where: string,
): JudgedRanking {
  const covered = targets.map((): readonly Range[] => []);
  const isFound = targets.map(() => false);
  const relevant: boolean[] = [];
  const found = results.map((result) => {
    const candidate = toCandidate(result);
    const overlaps = targets.map((target) => {
      requireFields(target, result, `${where} returned for '${question}'`);
      return findOverlap(target, candidate);
    });
    // A record that occurs again is not relevant again.
    const isNew = (index: number): boolean => targets[index]?.target.id === undefined || !isFound[index];
    relevant.push(overlaps.some((overlap, index) => overlap?.isRelevant && isNew(index)));
    return overlaps.flatMap((overlap, index) => {
      if (!overlap || isFound[index]) return [];
      covered[index] = overlap.ranges.reduce(addRange, covered[index] ?? []);
      isFound[index] = covers(covered[index] ?? [], targets[index]?.needed ?? []);
      return isFound[index] ? [index] : [];
    });
  });
  return { found, relevant, gains: targets.map(({ target }) => target.gain ?? 1) };
}

/** A store may hold records without a text or a source, so this requires only that a result has the field for it. */
function requireFields({ target }: Target, result: RetrievedResult, what: string): void {
  const { id, text, document, metadata } = result ?? {};
  let missing: string | undefined;
  if (typeof result !== 'object' || result === null) missing = 'is not an object';
  else if (target.id !== undefined) missing = typeof id === 'string' ? undefined : 'has no id';
  else if (target.source !== undefined && !metadata) missing = 'has no metadata';
  else if (target.quote !== undefined)
    missing = (text ?? document ?? metadata ?? null) === null ? 'has no text' : undefined;
  else if (target.startIndex !== undefined && metadata?.['source'] === target.source) {
    const isPlaced = [metadata['startIndex'], metadata['endIndex']].every(Number.isFinite);
    missing = isPlaced ? undefined : 'has no metadata.startIndex and endIndex';
  }
  if (missing === undefined) return;
  throw invalidOptions(
    `A result that ${what} ${missing}, but the case is bound to ${describeTarget(target)}. Return what the case needs.`,
  );
}

/** Index in which cases are looked up. */
export interface IndexToSearch {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly filter: VectorFilter;
  readonly signal: AbortSignal | undefined;
}

/**
 * Looks up the parts of cases in the chunks of an index, so that a case that cannot be answered is an error, not a result of 0.
 *
 * @throws `CASES_NOT_FOUND` with the cases that no chunk contains; errors of the store
 */
export async function locateCases(cases: readonly RetrievalCase[], index: IndexToSearch): Promise<LocatedCase[]> {
  const all = cases.map(({ question, relevant }) => ({
    question,
    targets: relevant.map((target) => {
      const letters = toLetters(target.quote ?? '');
      return { target, letters, needed: letters === '' ? [] : [[0, letters.length] as const] };
    }),
  }));
  const contained = new Map<Target, readonly Range[]>();
  const isMissing = (target: Target): boolean => {
    const ranges = contained.get(target) ?? [];
    return ranges.length === 0 || !covers(ranges, target.needed);
  };
  let pending = all.flatMap(({ targets }): Target[] => targets);
  const { store, ...params } = index;
  for await (const records of scanPages(store, params)) {
    params.signal?.throwIfAborted();
    for (const record of records) {
      const candidate = toCandidate(record);
      for (const target of pending) {
        const overlap = findOverlap(target, candidate);
        if (overlap) contained.set(target, overlap.ranges.reduce(addRange, contained.get(target) ?? []));
      }
    }
    // A place is complete only after all chunks.
    pending = pending.filter((target) => target.target.startIndex !== undefined || isMissing(target));
  }
  const missing = all.flatMap(({ question, targets: own }) =>
    own.filter(isMissing).map(({ target }) => ({ question, missing: describeTarget(target) })),
  );
  if (missing.length > 0) throw casesNotFound(index.indexName, missing);
  // White space between chunks belongs to none, so a place needs only what the chunks contain of it.
  return all.map(({ question, targets: own }) => ({
    question,
    targets: own.map((target) => ({
      ...target,
      needed: target.letters === '' ? (contained.get(target) ?? []) : target.needed,
    })),
  }));
}

function casesNotFound(indexName: string, missing: readonly { question: string; missing: string }[]): QuiverError {
  const named = missing.slice(0, 5).map((one) => `'${one.question}' needs ${one.missing}`);
  const more = missing.length > 5 ? `; and ${missing.length - 5} more` : '';
  return new QuiverError(
    'CASES_NOT_FOUND',
    `The index '${indexName}' does not contain what ${missing.length} cases need: ${named.join('; ')}${more}. Index the documents, or correct the cases.`,
    { details: { missing } },
  );
}
