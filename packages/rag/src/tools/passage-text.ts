import { headerKeys } from '../document/metadata-keys.js';
import { readSentenceStarts } from '../document/chunking/sentence.js';
import { floorGraphemeBoundary } from '../document/chunking/text-boundary.js';
import { describePlace, otherPlaces } from '../search/merge-copies.js';
import { estimateTokens } from '../embedding/rate-limit.js';
import type { VectorMetadata } from '../store/index.js';
import { startOfText, textAbove } from '../store/record-text.js';

interface Passage {
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
  readonly path?: readonly PathStep[];
}

interface PathStep {
  readonly from: string;
  readonly reason: string;
}

/** Passages as text. */
export interface PassageText {
  readonly text: string;
  /** Number of passages that are left out. */
  readonly omitted: number;
}

/**
 * Writes passages as one text for a model: each with its number, title, headings, source and page above it, and its text once. Passages without
 * text are left out, and numbers are those of the given list, so that the model can cite `[2]`.
 *
 * @param maxTokens - limit of the whole text, at four bytes of UTF-8 per token. The last passages over it are left out, the one before them is
 *   shortened after a sentence, and the text ends with a note. The first passage has its header and a few characters at least
 */
export function writePassages(passages: readonly Passage[], maxTokens: number = Infinity): PassageText {
  const numbers = { byId: new Map(passages.map(({ id }, index) => [id, index + 1])), byName: new Map() };
  const all = passages.flatMap((passage, index): WrittenPassage[] => {
    const { document } = passage;
    return document === '' ? [] : [{ header: headerOf(passage, index + 1, numbers), document }];
  });
  const text = all.map(({ header, document }) => header + document).join('\n\n');
  if (maxTokens === Infinity || estimateTokens(text) <= maxTokens) return { text, omitted: 0 };
  const parts = startOf(all, maxTokens - estimateTokens(noteOf(all.length, maxTokens)) - 1);
  const omitted = all.length - parts.length;
  return { text: [...parts, noteOf(omitted, maxTokens)].join('\n\n'), omitted };
}

interface WrittenPassage {
  readonly header: string;
  readonly document: string;
}

/** Returns the first passages, the last of them shortened. The first passage is never left out. */
function startOf(passages: readonly WrittenPassage[], maxTokens: number): string[] {
  const parts: string[] = [];
  let left = maxTokens;
  for (const { header, document } of passages) {
    const whole = header + document;
    // One token for the blank line before it.
    const tokens = estimateTokens(whole) + 1;
    if (tokens > left) {
      const start = shorten(document, left - estimateTokens(header) - 1, parts.length === 0);
      return start === undefined ? parts : [...parts, `${header}${start} …`];
    }
    parts.push(whole);
    left -= tokens;
  }
  return parts;
}

function noteOf(omitted: number, maxTokens: number): string {
  const rest =
    omitted === 0 ? 'The last passage is' : `${omitted} more ${omitted === 1 ? 'passage is' : 'passages are'}`;
  return `(${rest} not shown in full: the result has at most ${maxTokens} tokens. Ask for fewer passages, or ask more precisely.)`;
}

/** Numbers of passages by id, and of the first one that shows a file or a section, by its name. */
interface Numbers {
  readonly byId: ReadonlyMap<string, number>;
  readonly byName: Map<string, number>;
}

/** Names of files that are shorter than a reference to a passage. */
const shortName = 20;

/**
 * Returns the line `[2] Title › Heading (file.md, page 3)`, or `[2] ` if nothing is known. It repeats neither headings with which the text begins or
 * the title does, nor what an earlier passage shows: `[3] Heading (file of [2])`, `[4] (section of [3])`.
 */
function headerOf({ id, document, metadata, path = [] }: Passage, number: number, numbers: Numbers): string {
  const { title, headings, source } = textAbove(metadata);
  const [file, fileTitle] = [toLine(source), toLine(title)];
  const trail = [fileTitle, ...headings.map(toLine)];
  const inFile = file === '' ? undefined : numberOf([file, fileTitle], number, numbers);
  const inSection = file === '' || trail.length < 2 ? undefined : numberOf([file, ...trail], number, numbers);
  const start = new Set(startOfText(document).split('\n').map(withoutMarks));
  const isKnown = (part: string): boolean =>
    part === '' || start.has(part) || fileTitle.startsWith(`${part} `) || fileTitle.endsWith(` ${part}`);
  const shown = inSection === undefined ? trail.slice(inFile === undefined ? 0 : 1) : [];
  const above = [...new Set(shown)].filter((part) => !isKnown(part));
  const reference = inSection === undefined ? inFile && `file of [${inFile}]` : `section of [${inSection}]`;
  const isShort = inSection === undefined && file.length <= shortName;
  const step = path.at(-1);
  // A title that the query names is a step from the passage to itself.
  const isConnected = step !== undefined && step.from !== id;
  const details = [
    ...[isShort ? file : (reference ?? file)].filter(isText),
    ...placesOf(metadata),
    ...copiesOf(metadata),
    ...(isConnected ? [`connected with ${nameOf(numbers.byId.get(step.from))}: ${step.reason}`] : []),
  ];
  const names = [
    ...(above.length > 0 ? [above.join(' › ')] : []),
    ...(details.length > 0 ? [`(${details.join(', ')})`] : []),
  ];
  return names.length === 0 ? `[${number}] ` : `[${number}] ${names.join(' ')}\n`;
}

function numberOf(name: readonly string[], number: number, { byName }: Numbers): number | undefined {
  const key = name.join('\n');
  const first = byName.get(key);
  if (first === undefined) byName.set(key, number);
  return first;
}

const namedCopies = 2;

function copiesOf(metadata: VectorMetadata): string[] {
  const places = [...new Set(otherPlaces(metadata).map((place) => toLine(describePlace(place))))].filter(isText);
  const more = places.length - namedCopies;
  if (places.length === 0) return [];
  return [`also in ${places.slice(0, namedCopies).join(' and ')}${more > 0 ? ` and ${more} more` : ''}`];
}

function withoutMarks(line: string): string {
  return line.replace(/^#+/, '').trim();
}

function placesOf(metadata: VectorMetadata): string[] {
  return headerKeys.flatMap((key) => {
    const [value, end] = [metadata[key], key === 'page' ? metadata['endPage'] : undefined] as unknown[];
    if (typeof value !== 'number') return isText(value) ? [`${key} ${toLine(value)}`] : [];
    return typeof end === 'number' && end !== value ? [`${key}s ${value}–${end}`] : [`${key} ${value}`];
  });
}

function nameOf(number: number | undefined): string {
  return number === undefined ? 'another passage' : `[${number}]`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A header is one line, so that metadata cannot pretend to be a passage. */
function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Returns the longest start of a text that ends with a sentence and has at most so many tokens.
 *
 * @param isRequired - whether a start that ends between two words is better than none
 */
function shorten(text: string, maxTokens: number, isRequired: boolean): string | undefined {
  const { candidates, isStart } = readSentenceStarts(text);
  const fits = (end: number): boolean => estimateTokens(text.slice(0, end)) <= maxTokens;
  const sentences = longest(
    candidates.filter((at) => isStart(at, 0)),
    fits,
  );
  if (sentences !== undefined) return text.slice(0, sentences).trimEnd();
  if (!isRequired) return undefined;
  const words = longest(
    Array.from(text.matchAll(/\s+/g), ({ index }) => index),
    fits,
  );
  return text.slice(0, words ?? floorGraphemeBoundary(text, Math.max(2, maxTokens), 0)).trimEnd();
}

/** Returns the last of the sorted places that fits. */
function longest(places: readonly number[], fits: (place: number) => boolean): number | undefined {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(places[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return places[low - 1];
}
