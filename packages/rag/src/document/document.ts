import {
  anyValue,
  checkOptions,
  oneOf,
  type OptionChecks,
  unchecked,
  valueThat,
  invalidOptions,
} from '@quiver/core/internal';
import { canonicalJson, contentHash, createPartHash } from './content-hash.js';
import type { Chunk, ChunkMetadata, Metadata, PreviousChunk } from './chunk.js';
import { createChunker, type ChunkParams, type StrategyName } from './chunking/chunking-strategy.js';
import type { RawOptions } from './chunking/chunk-options.js';
import type { HtmlChunkOptions } from './chunking/html.js';
import type { Span } from './chunking/pack-spans.js';
import type { CodeLanguage } from './chunking/code-languages.js';
import type { ElementPlace } from './html/html-tags.js';
import { areSkippable, blankOut, addSkipped, cutOut, type SkippedCounts, type SkippedText } from './skipped-text.js';
import { arePlaces, createPageFinder, type TextPlace } from './text-place.js';
import type { ExtractItem } from './extract/chunk-context.js';
import type { ExtractParams } from './extract/extract-options.js';

/** Format of a document, which decides the default strategy. */
export type DocumentType = 'text' | 'markdown' | 'html' | 'json';

/** A text with metadata. */
export interface SourceDocument {
  text: string;
  /** Plain JSON data, copied into every chunk. `headings`, titles of headings above the text, come before those in the text. */
  metadata?: Metadata | undefined;
  /**
   * Places of parts of the text on pages, in order. Chunks have the page on which they begin as `metadata.page`, the rectangle around their text
   * there as `metadata.box`, and the page on which they end as `metadata.endPage` if it is another one.
   */
  places?: readonly TextPlace[];
  /** Parts of a plain or Markdown text that are not searched, in order: no chunk contains them. Default: none. */
  skip?: readonly SkippedText[];
}

/** Options of the constructor of `MDocument`. */
export type MDocumentOptions = (
  | SourceDocument
  | {
      /** Parts of the document, each a text with metadata. */
      docs: SourceDocument[];
    }
) & {
  /** Format of the text. Default `text`. */
  type?: DocumentType;
  /** Source code in this language: unless a strategy is named, chunks end between its declarations. */
  language?: CodeLanguage;
};

const defaultStrategies: Readonly<Record<DocumentType, StrategyName>> = {
  text: 'recursive',
  markdown: 'markdown',
  html: 'html',
  json: 'json',
};

type AnyDocumentOptions = Partial<
  SourceDocument & { docs: SourceDocument[]; type: DocumentType; language: CodeLanguage }
>;

/** Checked by `parseSource()`. */
const sourceChecks = unchecked<SourceDocument>()('text', 'metadata', 'places', 'skip');

const checks: OptionChecks<AnyDocumentOptions> = {
  ...sourceChecks,
  docs: valueThat(Array.isArray, 'a list of { text, metadata }'),
  type: oneOf(...Object.keys(defaultStrategies)),
  // Checked by `chunk()`.
  language: anyValue,
};

/**
 * A document, or several of one type, that can be split into chunks.
 *
 * @example
 * const document = MDocument.fromMarkdown('# Install\n\nRun npm install.', { source: 'install.md' });
 * const [chunk] = await document.chunk({ maxSize: 512 });
 * chunk.metadata; // { source: 'install.md', startIndex: 0, endIndex: 28, headings: ['Install'] }
 */
export class MDocument {
  readonly type: DocumentType;
  readonly language: CodeLanguage | undefined;
  /** Whether it could not be read for a reason that passes: `ingest` keeps its stored chunks. See {@link MDocument.unavailable}. */
  readonly isUnavailable: boolean = false;
  readonly #given: readonly DocumentText[];
  /** The texts of the last chunks. */
  #read: readonly DocumentText[] | undefined;
  /** The last chunks of each source. */
  #chunks: readonly (readonly Chunk[])[] | undefined;
  /** Metadata extracted from each source as a whole. It does not affect the ids of chunks. */
  #found: readonly Metadata[] | undefined;

  /** @throws `OPTIONS_INVALID` for an unknown option, a text that is not a string, metadata that is not an object, and an unknown type */
  constructor(options: MDocumentOptions) {
    checkOptions<AnyDocumentOptions>('MDocument', options, checks);
    this.type = options.type ?? 'text';
    this.language = options.language;
    const sources = 'docs' in options ? options.docs : [options];
    this.#given = sources.map((source) => parseSource(source, this.type));
    if ('docs' in options)
      for (const source of sources) checkOptions<SourceDocument>('A text of docs', source, sourceChecks);
  }

  /** Texts and metadata. A page in HTML is Markdown from the first call of {@link chunk} on, with the title and the language of its head. */
  get sources(): readonly { readonly text: string; readonly metadata: Metadata }[] {
    return this.#read ?? this.#given;
  }

  /**
   * Returns an empty document in place of one that could not be read for a reason that passes, such as too many open files. `ingest` keeps the stored
   * chunks of this source, also with `cleanup: 'all'`.
   */
  static unavailable(source: string): MDocument {
    return Object.assign(new MDocument({ text: '', metadata: { source } }), { isUnavailable: true });
  }

  static fromText(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, metadata, type: 'text' });
  }

  static fromMarkdown(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, metadata, type: 'markdown' });
  }

  /**
   * Reads a page as the loaders of HTML files do: as Markdown, in which navigation and the like is not searched. With the URL of the page as
   * `source`, its links are absolute.
   */
  static fromHTML(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, metadata, type: 'html' });
  }

  /** @param text - JSON, as text: chunks point to their place in it */
  static fromJSON(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, metadata, type: 'json' });
  }

  /** Number of characters that are not searched, by kind. */
  get skippedText(): SkippedCounts {
    const counts: SkippedCounts = {};
    for (const { skip } of this.#read ?? this.#given)
      for (const { start, end, kind } of skip) addSkipped(counts, { [kind]: end - start });
    return counts;
  }

  /**
   * Splits the text into chunks with their positions. It can be chunked again with other options.
   *
   * @throws `OPTIONS_INVALID` for an unknown strategy or option, or an invalid value; `JSON_INVALID`; `JSON_TOO_DEEP`;
   *   `HTML_TOO_DEEP`; `TOKENIZER_MISSING`; with `extract`, the errors of {@link extractMetadata}
   */
  async chunk(params: ChunkParams = {}): Promise<Chunk[]> {
    if (typeof params !== 'object' || params === null)
      throw invalidOptions(`chunk needs its options, an object, not ${String(params)}.`);
    const { extract, ...given } = params;
    // A union of option objects is read by the strategy it names, which checks every key.
    const isCode = this.language !== undefined && params.strategy === undefined;
    const options: RawOptions = { ...(isCode && { strategy: 'recursive', language: this.language }), ...given };
    const strategy = params.strategy ?? (isCode ? 'recursive' : defaultStrategies[this.type]);
    const chunker = await createChunker(strategy, options);
    const isPage = strategy === 'html' || this.type === 'html';
    this.#read = isPage ? await readPages(this.#given, params) : this.#given;
    const chunks = this.#read.map(({ text, metadata, skip, places, elements }, source) => {
      const found = this.#found?.[source];
      const searched = skip.length === 0 ? text : blankOut(text, skip);
      const spans = cutOut(chunker(searched, elements), text, skip);
      const own = toChunks({ text, searched, metadata, spans, places });
      return found ? own.map((chunk) => withMetadata(chunk, found)) : own;
    });
    this.#chunks = chunks;
    return (extract ? await this.#extractFrom(chunks, extract) : chunks).flat();
  }

  /**
   * Calls a language model for titles, summaries, questions, keywords or facts of each chunk, and adds them to its metadata. Before
   * {@link chunk}, it does so for each document as a whole, for all of its chunks.
   *
   * @throws `OPTIONS_INVALID`, `EXTRACT_MODEL_MISSING`; the abort reason; `EXTRACTION_FAILED` after everything
   *   else was extracted and stored, with each failure and its chunk in `details.failures`, unless `onFailure` was given
   * @example
   * await document.chunk();
   * await document.extractMetadata({ llm: openai('gpt-5.1'), title: true, keywords: { keywords: 3 } });
   * document.getMetadata(); // [{ documentTitle: '…', excerptKeywords: '…', startIndex: 0, … }, …]
   */
  async extractMetadata(params: ExtractParams): Promise<this> {
    if (this.#chunks) await this.#extractFrom(this.#chunks, params);
    else {
      const { extractMetadata } = await import('./extract/extract-metadata.js');
      if (this.type === 'html') this.#read = await readPages(this.#given);
      const items = this.sources.map((one, source) => toItem(one, one.text, source));
      await extractMetadata(items, params, (found) => {
        this.#found = found.map((metadata, index) => ({ ...this.#found?.[index], ...metadata }));
      });
    }
    return this;
  }

  /** Adds metadata to chunks, which become the last chunks. Parallel calls work on their own chunks. */
  async #extractFrom(
    chunks: readonly (readonly Chunk[])[],
    params: ExtractParams,
  ): Promise<readonly (readonly Chunk[])[]> {
    const items = chunks.flatMap((own, source) =>
      own.map((chunk) => toItem(chunk, this.sources[source]!.text, source)),
    );
    let extended = chunks;
    const { extractMetadata } = await import('./extract/extract-metadata.js');
    await extractMetadata(items, params, (found) => {
      let next = 0;
      extended = chunks.map((own) => own.map((chunk) => withMetadata(chunk, found[next++]!)));
      this.#chunks = extended;
    });
    return extended;
  }

  /** Returns the last chunks; before the first call of {@link chunk}, the original documents. */
  getDocs(): { text: string; metadata: Metadata }[] {
    if (this.#chunks) return this.#chunks.flat();
    return this.sources.map(({ text, metadata }, index) => ({
      text,
      metadata: { ...metadata, ...this.#found?.[index] },
    }));
  }

  getText(): string[] {
    return this.getDocs().map(({ text }) => text);
  }

  getMetadata(): Metadata[] {
    return this.getDocs().map(({ metadata }) => metadata);
  }
}

/** Returns a chunk, or a whole document, for the extractors. Chunks of one document are a group, and of all documents with the same `docId`. */
function toItem(
  { id, text, metadata }: { id?: string; text: string; metadata: Metadata },
  document: string,
  source: number,
): ExtractItem {
  const { docId } = metadata;
  const group = docId === undefined || docId === null ? source : canonicalJson({ docId });
  return { id, text, metadata, document, group };
}

function withMetadata(chunk: Chunk, found: Metadata): Chunk {
  return { ...chunk, metadata: { ...chunk.metadata, ...found } };
}

/** A text whose parts were checked. */
interface DocumentText {
  readonly text: string;
  readonly metadata: Metadata;
  readonly places: readonly TextPlace[];
  readonly skip: readonly SkippedText[];
  readonly elements?: readonly ElementPlace[];
}

function parseSource(source: SourceDocument, type: DocumentType): DocumentText {
  if (typeof source !== 'object' || source === null) throw invalidOptions('A document must be { text, metadata }.');
  const { text, metadata = {}, places = [], skip = [] } = source;
  if (typeof text !== 'string') throw invalidOptions(`The text of a document must be a string, not ${typeof text}.`);
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw invalidOptions('The metadata of a document must be an object of plain JSON data.');
  }
  if (!arePlaces(places, text))
    throw invalidOptions(
      'places must be a list of { start, end, page, box? }: parts of the text, in order and apart from each other, each with the number of its page from 1.',
    );
  if (!areSkippable(skip, text))
    throw invalidOptions(
      'skip must be a list of { start, end, kind }: parts of the text, in order and apart from each other.',
    );
  if (skip.length > 0 && (type === 'html' || type === 'json'))
    throw invalidOptions(`skip is for plain and Markdown text, not for the type '${type}'.`);
  return { text, metadata: { ...metadata }, places, skip };
}

/** Returns pages in HTML as Markdown. Metadata of the caller takes precedence. */
async function readPages(sources: readonly DocumentText[], params: ChunkParams = {}): Promise<DocumentText[]> {
  const { readPage } = await import('./html/read-page.js');
  const { sections = [] } = params as HtmlChunkOptions;
  const elementNames = new Set(sections.map(([tag]) => tag.trim().toLowerCase()));
  return sources.map(({ text, metadata }) => {
    const { source = 'The page' } = metadata;
    const page = readPage(text, String(source), elementNames);
    return { ...page, metadata: { ...page.metadata, ...metadata }, places: [] };
  });
}

interface ChunkedText extends Omit<DocumentText, 'skip' | 'elements'> {
  readonly searched: string;
  readonly spans: readonly Span[];
}

function toChunks({ text, searched, metadata, spans, places }: ChunkedText): Chunk[] {
  const findPages = places.length > 0 ? createPageFinder(places) : undefined;
  const hashOf = createPartHash(canonicalJson(metadata));
  const above = Array.isArray(metadata['headings']) ? (metadata['headings'] as readonly string[]) : [];
  const hashes = new Set<string>();
  const repeated = new Map<string, number>();
  let last: { id: string; span: Span } | undefined;
  return spans.map((span) => {
    const { start, end, headings } = span;
    const content = span.text ?? text.slice(start, end);
    const hash = span.text === undefined ? hashOf(text, start, end) : hashOf(content, 0, content.length);
    const known = hashes.size;
    // Most hashes are new, and one look-up takes half the time of two.
    hashes.add(hash);
    const earlier = hashes.size > known ? 0 : (repeated.get(hash) ?? 1);
    if (earlier > 0) repeated.set(hash, earlier + 1);
    const id = earlier === 0 ? hash : contentHash(hash, String(earlier));
    // A spread of what is absent takes eight times as long as all the rest.
    const own: Metadata = span.metadata ? { ...metadata, ...span.metadata } : { ...metadata };
    own['startIndex'] = start;
    own['endIndex'] = end;
    if (headings) own['headings'] = above.length === 0 ? headings : [...above, ...headings];
    if (findPages) Object.assign(own, findPages(start, end));
    const previous = last && toPrevious(text, searched, last, span);
    last = { id, span };
    const place = own as ChunkMetadata;
    return previous
      ? { id, text: content, content, metadata: place, previous }
      : { id, text: content, content, metadata: place };
  });
}

/** Longer texts between two chunks are not kept, so the chunks are not neighbors. */
const longestBetween = 1000;

function toPrevious(
  text: string,
  searched: string,
  { id, span }: { id: string; span: Span },
  next: Span,
): PreviousChunk | undefined {
  const isDecoded = span.text !== undefined || next.text !== undefined;
  if (isDecoded || next.start <= span.end) return { id };
  const textBetween = text.slice(span.end, next.start);
  // Nor are those around a skipped part.
  return textBetween.length > longestBetween || textBetween !== searched.slice(span.end, next.start)
    ? undefined
    : { id, textBetween };
}
