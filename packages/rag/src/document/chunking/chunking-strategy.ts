import type { CharacterChunkOptions } from './character.js';
import {
  invalidOptions,
  OptionReader,
  type CommonChunkOptions,
  type MeasureOptions,
  type MinSizeOptions,
  type RawOptions,
} from './chunk-options.js';
import type { HtmlChunkOptions } from './html.js';
import type { JsonChunkOptions } from './json.js';
import type { LatexChunkOptions } from './latex.js';
import type { MarkdownChunkOptions } from './markdown.js';
import type { RecursiveChunkOptions } from './recursive.js';
import type { SemanticMarkdownChunkOptions } from './semantic-markdown.js';
import type { SentenceChunkOptions } from './sentence.js';
import type { Chunker } from './pack-spans.js';
import type { TokenChunkOptions } from './token.js';

/** The options of each strategy. */
interface StrategyOptions {
  recursive: RecursiveChunkOptions;
  character: CharacterChunkOptions;
  token: TokenChunkOptions;
  sentence: SentenceChunkOptions;
  markdown: MarkdownChunkOptions;
  'semantic-markdown': SemanticMarkdownChunkOptions;
  html: HtmlChunkOptions;
  json: JsonChunkOptions;
  latex: LatexChunkOptions;
}

export type StrategyName = keyof StrategyOptions;

/** Reads the options of a strategy, and returns its chunker. */
export type ChunkingStrategy = (read: OptionReader) => Chunker | Promise<Chunker>;

/** All strategies. A strategy is loaded at its first use. */
const strategies: Readonly<Record<StrategyName, () => Promise<ChunkingStrategy>>> = {
  recursive: once(async () => (await import('./recursive.js')).recursive),
  character: once(async () => (await import('./character.js')).character),
  token: once(async () => (await import('./token.js')).token),
  sentence: once(async () => (await import('./sentence.js')).sentence),
  markdown: once(async () => (await import('./markdown.js')).markdown),
  'semantic-markdown': once(async () => (await import('./semantic-markdown.js')).semanticMarkdown),
  html: once(async () => (await import('./html.js')).html),
  json: once(async () => (await import('./json.js')).json),
  latex: once(async () => (await import('./latex.js')).latex),
};

/** Evaluating `import()` for each document took 40 µs, a fifth of the time of chunking a page of 10,000 characters. */
function once(load: () => Promise<ChunkingStrategy>): () => Promise<ChunkingStrategy> {
  let loaded: ChunkingStrategy | undefined;
  return async () => (loaded ??= await load());
}

/** Chunking options. Without `strategy`, the type of the document decides: see `DocumentType`. */
export type ChunkParams =
  | { [Name in StrategyName]: Omit<StrategyOptions[Name], 'strategy'> & { strategy: Name } }[StrategyName]
  | (CommonChunkOptions & MeasureOptions & MinSizeOptions & { strategy?: never });

/**
 * Returns the chunker of a strategy with the given options.
 *
 * @throws `CHUNK_OPTIONS_INVALID` for an unknown strategy, an unknown option or an invalid value; `TOKENIZER_MISSING`
 */
export async function createChunker(strategy: string, options: RawOptions): Promise<Chunker> {
  const known: Readonly<Record<string, () => Promise<ChunkingStrategy>>> = strategies;
  const load = Object.hasOwn(known, strategy) ? known[strategy] : undefined;
  if (!load)
    throw invalidOptions(`There is no chunking strategy '${strategy}'. Known: ${Object.keys(known).join(', ')}.`);
  const read = new OptionReader(strategy, options);
  const chunker = await (await load())(read);
  read.requireNoOthers();
  return chunker;
}
