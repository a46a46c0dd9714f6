import { open, readFile, unlink } from 'node:fs/promises';
import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import { replaceFile } from '@quiver/core/internal';
import type { TextLanguages } from '../../../words/detect-language.js';
import type { StoredKeywords } from '../../../words/keyword-index.js';
import { findLanguage, type Language } from '../../../words/languages.js';
import { bytesOf } from '../../../vectors/vector-table.js';
import type { WordStorage } from '../local-words.js';
import { firstPlace } from '../record-table.js';
import { crc32 } from './log-format.js';

/** Ends the names of files with terms. */
export const wordsExtension = '.qvwords';

/** The first line of a file, as JSON. Terms that differ in one of the first five values are not read. */
interface Header {
  readonly format: 'quiver-local-words';
  readonly version: 1;
  /** Version of the index that the terms are of. */
  readonly index: string;
  readonly analyzer: string;
  /** Version of Unicode, which normal forms and word boundaries depend on. */
  readonly unicode: string | undefined;
  readonly texts: number;
  readonly terms: number;
  /** Lengths in bytes of the JSON of the languages and of the terms. */
  readonly languageBytes: number;
  readonly termBytes: number;
}

/** Longer than any header. */
const maxHeaderLength = 512;
const checksumLength = 4;

/**
 * Terms of an index in a file next to its log: the header, then 32-bit numbers (length and languages of each text, end of each term and of its
 * postings), the languages, the terms in order, the postings, and a CRC of all.
 *
 * A reader decodes the postings of the terms that it searches. The file takes about 190 bytes for a text of 400 characters.
 */
export class WordsFile implements WordStorage {
  readonly #file: string;
  #header: Header | undefined;

  private constructor(file: string, header: Header | undefined) {
    this.#file = file;
    this.#header = header;
  }

  /** Reads the header only. */
  static async open(file: string): Promise<WordsFile> {
    return new WordsFile(file, await readHeader(file).catch(() => undefined));
  }

  get version(): string | undefined {
    return this.#header?.index;
  }

  async read(analyzer: string): Promise<StoredKeywords | undefined> {
    const bytes = await readFile(this.#file).catch(() => undefined);
    const header = bytes && toHeader(bytes);
    if (!header || header.index !== this.version || header.analyzer !== analyzer) return undefined;
    const end = bytes.byteLength - checksumLength;
    return crc32(bytes.subarray(0, end)) === bytes.readUInt32LE(end)
      ? decode(bytes.subarray(0, end), header)
      : undefined;
  }

  async write(
    keywords: StoredKeywords,
    { version: index, analyzer }: { version: string; analyzer: string },
  ): Promise<void> {
    try {
      await replaceFile(this.#file, encode(keywords, { index, analyzer }));
    } catch (error) {
      getDefaultLogger().warn(
        `The terms of an index could not be stored in ${this.#file}; the next process analyzes its texts again: ${toErrorMessage(error)}`,
      );
    }
  }

  async delete(): Promise<void> {
    this.#header = undefined;
    await unlink(this.#file).catch(() => {});
  }
}

async function readHeader(file: string): Promise<Header | undefined> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxHeaderLength));
    return toHeader(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** @returns `undefined` for a file of another version, or one that this class did not write */
function toHeader(bytes: Buffer): Header | undefined {
  try {
    const header = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf('\n'))) as Header;
    const { format, version, unicode } = header;
    return format === 'quiver-local-words' && version === 1 && unicode === process.versions.unicode
      ? header
      : undefined;
  } catch {
    return undefined;
  }
}

function encode(
  { common, languages, lengths, postings }: StoredKeywords,
  of: Pick<Header, 'index' | 'analyzer'>,
): Uint8Array {
  const written = [...postings.keys()]
    .toSorted()
    .map((term) => ({ term, bytes: writePostings(postings.get(term) ?? []) }))
    .filter(({ bytes }) => bytes.byteLength > 0);
  const terms = written.map(({ term }) => term);
  let end = 0;
  const ends = written.map(({ bytes }) => (end += bytes.byteLength));
  /** The common language, then the languages of texts, each list once. */
  const distinct = new Map([[common.code, 0]]);
  const languagesOfTexts = languages.map((each) => {
    const key = toKey(each);
    const place = distinct.get(key) ?? distinct.size;
    distinct.set(key, place);
    return place;
  });
  let termBytes = 0;
  const termEnds = terms.map((term) => (termBytes += Buffer.byteLength(term)));
  const languageJson = Buffer.from(JSON.stringify([...distinct.keys()]));
  const header: Header = {
    format: 'quiver-local-words',
    version: 1,
    ...of,
    unicode: process.versions.unicode,
    texts: languages.length,
    terms: terms.length,
    languageBytes: languageJson.byteLength,
    termBytes,
  };
  const numbers = Uint32Array.from([...Array.from(lengths), ...languagesOfTexts, ...termEnds, ...ends]);
  const parts = [bytesOf(numbers), languageJson, Buffer.from(terms.join('')), ...written.map(({ bytes }) => bytes)];
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...parts, Buffer.alloc(checksumLength)]);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, -checksumLength)), bytes.byteLength - checksumLength);
  return bytes;
}

function decode(bytes: Buffer, { texts, terms, languageBytes, termBytes }: Header): StoredKeywords {
  let position = bytes.indexOf('\n') + 1;
  const take = (length: number): Buffer => bytes.subarray(position, (position += length));
  const takeNumbers = (count: number): Uint32Array => {
    // A copy, because numbers begin at a multiple of their size.
    const copy = new Uint32Array(count);
    bytesOf(copy).set(take(count * copy.BYTES_PER_ELEMENT));
    return copy;
  };
  const lengths = takeNumbers(texts);
  const languagesOfTexts = takeNumbers(texts);
  const termEnds = takeNumbers(terms);
  const ends = takeNumbers(terms);
  const [common, ...others] = JSON.parse(take(languageBytes).toString()) as string[];
  const distinct = [common, ...others].map((key) => toLanguages(key as string));
  const termText = take(termBytes);
  const pairs = take(bytes.byteLength - position);
  const termAt = (place: number): string => termText.toString('utf8', termEnds[place - 1] ?? 0, termEnds[place]);
  return {
    common: findLanguage(common) as Language,
    languages: Array.from(languagesOfTexts, (place) => distinct[place] as TextLanguages),
    lengths,
    postings: {
      keys: () => Array.from({ length: terms }, (_, place) => termAt(place)).values(),
      get: (term) => {
        const place = firstPlace(terms, (at) => termAt(at) >= term);
        if (place === terms || termAt(place) !== term) return undefined;
        return readPostings(pairs.subarray(ends[place - 1] ?? 0, ends[place]));
      },
    },
  };
}

/** Codes of languages; after `?` those that a text may have. */
function toKey({ shown, likely }: TextLanguages): string {
  return shown ? shown.code : `?${likely.map(({ code }) => code).join(' ')}`;
}

function toLanguages(key: string): TextLanguages {
  const codes = key.replace('?', '').split(' ');
  const likely = codes.flatMap((code) => findLanguage(code) ?? []);
  return { shown: key.startsWith('?') ? undefined : likely[0], likely };
}

/**
 * Returns postings as numbers of 7 bits a byte: twice the distance to the text before, and 1 where occurrences follow because they are
 * more than one.
 */
function writePostings(pairs: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  const writeNumber = (number: number): void => {
    let rest = number;
    for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
  };
  let before = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const [text, occurrences] = [pairs[at] as number, pairs[at + 1] as number];
    writeNumber((text - before) * 2 + (occurrences === 1 ? 0 : 1));
    if (occurrences !== 1) writeNumber(occurrences);
    before = text;
  }
  return Uint8Array.from(bytes);
}

function readPostings(bytes: Uint8Array): number[] {
  const pairs: number[] = [];
  let [text, position] = [0, 0];
  const readNumber = (): number => {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[position++] as number;
      number |= (byte & 0x7f) << shift;
      if (byte <= 0x7f) return number >>> 0;
    }
  };
  while (position < bytes.length) {
    const number = readNumber();
    text += number >>> 1;
    pairs.push(text, number & 1 ? readNumber() : 1);
  }
  return pairs;
}
