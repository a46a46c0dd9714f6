import { invalidOptions } from '@quiver/core/internal';
import type { Chunk } from '../document/chunk.js';
import { summaryKeys } from '../document/metadata-keys.js';
import { contentHash } from '../document/content-hash.js';
import type { ExtractParams } from '../document/extract/extract-options.js';
import { packSpans } from '../document/chunking/pack-spans.js';
import { findSeparatorCut } from '../document/chunking/separator-cut.js';
import { mostTokens } from '../embedding/input-tokens.js';
import { textAbove, textKeys } from '../store/record-text.js';

/**
 * Further vectors of each chunk: of the questions that it answers, one each, and of its summary, as the extractors write them; or of the
 * texts that a function returns. For the same chunk it must return the same texts.
 */
export type ChunkVectors = readonly ('questions' | 'summary')[] | ((chunk: Chunk) => readonly string[]);

/** A vector to store: of a chunk, or a further one. */
export interface ChunkVector extends Chunk {
  /** Text that the vector is made from. */
  readonly embedded: string;
  /** Id of the chunk of a further vector; stored in the metadata under this name. */
  readonly vectorOf?: string;
}

const extractedKeys = { questions: 'questionsThisExcerptCanAnswer', summary: 'sectionSummary' } as const;

/** @throws `OPTIONS_INVALID` for an unknown name, and for a name without its extractor */
export function checkChunkVectors(vectors: unknown, extract: ExtractParams | undefined): ChunkVectors | undefined {
  if (vectors === undefined || typeof vectors === 'function') return vectors as ChunkVectors | undefined;
  if (!Array.isArray(vectors)) throw invalidOptions(`vectors must be a list or a function, not ${String(vectors)}.`);
  for (const name of vectors as unknown[]) {
    if (name !== 'questions' && name !== 'summary')
      throw invalidOptions(`vectors can contain 'questions' and 'summary', not '${String(name)}'.`);
    if (!extract?.[name])
      throw invalidOptions(
        `vectors: ['${name}'] needs the extractor: pass chunkOptions: { extract: { ${name}: true, llm } }, or a function that returns the texts.`,
      );
  }
  return vectors as ChunkVectors;
}

/** Returns the metadata keys that an extraction has to write. */
export function keysOfVectors(vectors: ChunkVectors | undefined): readonly string[] {
  return Array.isArray(vectors) ? vectors.map((name: keyof typeof extractedKeys) => extractedKeys[name]) : [];
}

/**
 * Returns the vectors of chunks: one of each, then the further ones. A text that is longer than the embedder reads has several, of windows
 * that overlap. The chunk or the further vector has that of the first window; the others are further vectors without a text, so that no keyword
 * search finds them.
 *
 * @throws `OPTIONS_INVALID` when the function returns something else than a list of texts
 */
export function toVectors(
  chunks: readonly Chunk[],
  vectors: ChunkVectors | undefined,
  maxInputTokens: number | undefined,
): ChunkVector[] {
  const further = vectors === undefined ? [] : chunks.flatMap((chunk) => furtherTexts(chunk, vectors));
  const windows: ChunkVector[] = [];
  const whole = [...chunks, ...further].map((one: Chunk & Pick<ChunkVector, 'vectorOf'>): ChunkVector => {
    const above = one.vectorOf === undefined ? subjectOf(one) : '';
    const [embedded = '', ...others] = toWindows(above, one.text, maxInputTokens);
    for (const window of others) {
      const metadata = withoutKeys(one.metadata, (key) => summaryKeys.has(key) || textKeys.includes(key));
      const id = contentHash('window', one.id, window);
      windows.push({ id, text: '', content: '', metadata, embedded: window, vectorOf: one.vectorOf ?? one.id });
    }
    return { ...one, embedded };
  });
  return [...whole, ...windows];
}

/** The context or the headings name the subject of a chunk, often in words that its text does not contain. */
function subjectOf({ metadata }: Chunk): string {
  const { headings, context } = textAbove(metadata);
  return context || headings.join(' › ');
}

function furtherTexts(chunk: Chunk, vectors: ChunkVectors): (Chunk & Pick<ChunkVector, 'vectorOf'>)[] {
  const texts = new Set(textsOf(chunk, vectors).map((text) => text.trim()));
  texts.delete('');
  texts.delete(chunk.text);
  const metadata = withoutKeys(chunk.metadata, (key) => summaryKeys.has(key));
  return Array.from(texts, (text) => {
    const id = contentHash('vector', chunk.id, text);
    return { id, text, content: text, metadata, vectorOf: chunk.id };
  });
}

/** The place of the chunk stays, so that filters and cleanup treat a further vector as they treat its chunk. */
function withoutKeys(metadata: Chunk['metadata'], isLeftOut: (key: string) => boolean): Chunk['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isLeftOut(key))) as Chunk['metadata'];
}

/** Part of a window that the next one repeats, and part below which the last one joins the one before. */
const [overlapPart, smallPart] = [8, 4];

/**
 * Returns a text in parts that the embedder reads, each below what names its subject, which takes at most half of a part.
 *
 * @param above - subject of the text; may be empty
 */
function toWindows(above: string, text: string, maxInputTokens: number = Infinity): string[] {
  const head = above ? `${above}\n\n` : '';
  // A character has at most one token.
  if (head.length + text.length <= maxInputTokens || mostTokens(head + text) <= maxInputTokens) return [head + text];
  const rest = maxInputTokens - mostTokens(head);
  if (rest < maxInputTokens / 2) return toWindows('', text, maxInputTokens);
  const options = {
    maxSize: rest,
    overlap: rest / overlapPart,
    minSize: rest / smallPart,
    measure: mostTokens,
    stripWhitespace: true,
    separatorPosition: 'end',
    separators: ['\n\n', '\n', ' ', ''],
  } as const;
  const spans = packSpans(text, options, findSeparatorCut(text, options));
  return spans.map(({ start, end }) => head + text.slice(start, end));
}

function textsOf(chunk: Chunk, vectors: ChunkVectors): readonly string[] {
  if (typeof vectors !== 'function') return vectors.flatMap((name) => extractedTexts(chunk, name));
  const texts: unknown = vectors(chunk);
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw invalidOptions(`vectors must return a list of texts for the chunk '${chunk.id}'.`);
}

/** Questions are one on each line, which models like to number. */
function extractedTexts({ metadata }: Chunk, name: keyof typeof extractedKeys): string[] {
  const text = metadata[extractedKeys[name]];
  if (typeof text !== 'string') return [];
  return name === 'summary'
    ? [text]
    : text.split('\n').map((line) => line.trim().replace(/^(?:[-*•]|\d{1,3}[.)])\s/, ''));
}
