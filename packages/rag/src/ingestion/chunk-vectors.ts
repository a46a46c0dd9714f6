import { QuiverError } from '@quiver/core';
import type { Chunk } from '../document/chunk.js';
import { summaryKeys } from '../document/metadata-keys.js';
import { contentHash } from '../document/content-hash.js';
import type { ExtractParams } from '../document/extract/extract-options.js';
import { invalidArgument } from '../store/options.js';

/**
 * Further vectors of each chunk: of the questions that it answers, one each, and of its summary, as the extractors write them; or of the
 * texts that a function returns. For the same chunk it must return the same texts.
 */
export type ChunkVectors = readonly ('questions' | 'summary')[] | ((chunk: Chunk) => readonly string[]);

/** A record with a further vector of a chunk: its text is embedded alone, and its metadata name the chunk. */
export interface FurtherVector extends Chunk {
  /** Id of the chunk; stored in the metadata under this name. */
  readonly vectorOf: string;
}

/** Metadata keys of the texts. */
const extractedKeys = { questions: 'questionsThisExcerptCanAnswer', summary: 'sectionSummary' } as const;

/** @throws `VECTOR_ARGUMENT_INVALID` for an unknown name, and for a name without its extractor */
export function checkChunkVectors(vectors: unknown, extract: ExtractParams | undefined): ChunkVectors | undefined {
  if (vectors === undefined || typeof vectors === 'function') return vectors as ChunkVectors | undefined;
  if (!Array.isArray(vectors)) throw invalidArgument(`vectors must be a list or a function, not ${String(vectors)}.`);
  for (const name of vectors as unknown[]) {
    if (name !== 'questions' && name !== 'summary')
      throw invalidArgument(`vectors can contain 'questions' and 'summary', not '${String(name)}'.`);
    if (!extract?.[name])
      throw invalidArgument(
        `vectors: ['${name}'] needs the extractor: pass chunkOptions: { extract: { ${name}: true, llm } }, or a function that returns the texts.`,
      );
  }
  return vectors as ChunkVectors;
}

/** Returns the metadata keys that an extraction has to write. */
export function keysOfVectors(vectors: ChunkVectors | undefined): readonly string[] {
  return Array.isArray(vectors) ? vectors.map((name: keyof typeof extractedKeys) => extractedKeys[name]) : [];
}

/** @throws `VECTOR_ARGUMENT_INVALID` when the function returns something else than a list of texts */
export function furtherVectors(chunks: readonly Chunk[], vectors: ChunkVectors | undefined): FurtherVector[] {
  if (vectors === undefined) return [];
  return chunks.flatMap((chunk) => {
    const texts = new Set(textsOf(chunk, vectors).map((text) => text.trim()));
    texts.delete('');
    texts.delete(chunk.text);
    const metadata = Object.entries(chunk.metadata).filter(([key]) => !summaryKeys.has(key));
    return Array.from(texts, (text) => ({
      id: contentHash('vector', chunk.id, text),
      text,
      content: text,
      // The place of the chunk is among its entries.
      metadata: Object.fromEntries(metadata) as Chunk['metadata'],
      vectorOf: chunk.id,
    }));
  });
}

function textsOf(chunk: Chunk, vectors: ChunkVectors): readonly string[] {
  if (typeof vectors !== 'function') return vectors.flatMap((name) => extractedTexts(chunk, name));
  const texts: unknown = vectors(chunk);
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw new QuiverError('VECTOR_ARGUMENT_INVALID', `vectors must return a list of texts for the chunk '${chunk.id}'.`);
}

/** Questions are one on each line, which models like to number. */
function extractedTexts({ metadata }: Chunk, name: keyof typeof extractedKeys): string[] {
  const text = metadata[extractedKeys[name]];
  if (typeof text !== 'string') return [];
  return name === 'summary'
    ? [text]
    : text.split('\n').map((line) => line.trim().replace(/^(?:[-*•]|\d{1,3}[.)])\s/, ''));
}
