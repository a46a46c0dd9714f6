import { QuiverError } from '@quiver/core';
import type { Chunk, Metadata } from './chunk.js';
import { toChunks } from './chunk.js';
import { createChunker, type StrategyName } from './chunking/chunking-strategy.js';
import type { ChunkParams } from './chunking/chunk-options.js';
import type { RawOptions } from './chunking/option-values.js';

/** What a document is made of; it decides how it is chunked by default. */
export type DocumentType = 'text' | 'markdown' | 'html' | 'json';

/** A text with what is known about it. */
export interface SourceDocument {
  text: string;
  /** Plain JSON data, copied into every chunk. */
  metadata?: Metadata;
}

export type MDocumentOptions =
  | (SourceDocument & { type?: DocumentType })
  | { docs: SourceDocument[]; type?: DocumentType };

const defaultStrategies: Readonly<Record<DocumentType, StrategyName>> = {
  text: 'recursive',
  markdown: 'markdown',
  html: 'html',
  json: 'json',
};

/**
 * A document, or several of one type, ready to be divided into chunks.
 *
 * @example
 * const document = MDocument.fromMarkdown('# Install\n\nRun npm install.', { source: 'install.md' });
 * const [chunk] = await document.chunk({ maxSize: 512 });
 * chunk.metadata; // { source: 'install.md', startIndex: 0, endIndex: 28, headings: ['Install'] }
 */
export class MDocument {
  readonly type: DocumentType;
  /** What the document was made of, whatever was done with it since. */
  readonly sources: readonly Readonly<Required<SourceDocument>>[];
  #chunks: readonly Chunk[] | undefined;

  /** @throws `DOCUMENT_INVALID` when a text is not a string, metadata is not an object, or the type is unknown */
  constructor(options: MDocumentOptions) {
    this.type = options.type ?? 'text';
    if (!Object.hasOwn(defaultStrategies, this.type)) {
      throw invalid(
        `There is no document type '${String(this.type)}'. Known: ${Object.keys(defaultStrategies).join(', ')}.`,
      );
    }
    const sources = 'docs' in options ? options.docs : [options];
    if (!Array.isArray(sources)) throw invalid('docs must be a list of { text, metadata }.');
    this.sources = sources.map(parseSource);
  }

  static fromText(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, ...(metadata && { metadata }), type: 'text' });
  }

  static fromMarkdown(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, ...(metadata && { metadata }), type: 'markdown' });
  }

  static fromHTML(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, ...(metadata && { metadata }), type: 'html' });
  }

  /** @param text - JSON, as text: chunks point to their place in it */
  static fromJSON(text: string, metadata?: Metadata): MDocument {
    return new MDocument({ text, ...(metadata && { metadata }), type: 'json' });
  }

  /**
   * Divides the original text into chunks, each a verbatim piece of it. The document itself does not change, so that it can be
   * chunked again in another way.
   *
   * @throws `CHUNK_OPTIONS_INVALID` for an unknown strategy or option, or a value that makes no sense
   */
  async chunk(params: ChunkParams = {}): Promise<Chunk[]> {
    // A union of option objects is read by the strategy it names, which checks every key.
    const options = params as RawOptions;
    const chunker = await createChunker(params.strategy ?? defaultStrategies[this.type], options);
    const chunks = this.sources.flatMap(({ text, metadata }) => toChunks(text, metadata, chunker(text)));
    this.#chunks = chunks;
    return [...chunks];
  }

  /** The chunks made last; before that, the original documents. */
  getDocs(): { text: string; metadata: Metadata }[] {
    return [...(this.#chunks ?? this.sources)];
  }

  /** The text of each of {@link getDocs}. */
  getText(): string[] {
    return this.getDocs().map(({ text }) => text);
  }

  /** The metadata of each of {@link getDocs}. */
  getMetadata(): Metadata[] {
    return this.getDocs().map(({ metadata }) => metadata);
  }
}

function parseSource({ text, metadata = {} }: SourceDocument): Required<SourceDocument> {
  if (typeof text !== 'string') throw invalid(`The text of a document must be a string, not ${typeof text}.`);
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw invalid('The metadata of a document must be an object of plain JSON data.');
  }
  return { text, metadata: { ...metadata } };
}

function invalid(message: string): QuiverError {
  return new QuiverError('DOCUMENT_INVALID', message);
}
