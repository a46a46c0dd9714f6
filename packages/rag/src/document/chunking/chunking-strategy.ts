import { QuiverError } from '@quiver/core';
import { parseMarkdownOptions, parseRecursiveOptions, type RawOptions } from './chunk-options.js';
import type { Span } from './span.js';

export type StrategyName = 'recursive' | 'markdown';

/** A strategy with its options bound: a pure function of the text. */
export type Chunker = (text: string) => Span[];

type ChunkingStrategy = (options: RawOptions) => Promise<Chunker>;

/** Every strategy, one line each. Its code is loaded when it is first used. */
const strategies: Readonly<Record<StrategyName, ChunkingStrategy>> = {
  recursive: define(parseRecursiveOptions, async () => (await import('./recursive.js')).chunkRecursively),
  markdown: define(parseMarkdownOptions, async () => (await import('./markdown.js')).chunkMarkdown),
};

function define<Options>(
  parse: (options: RawOptions) => Options,
  load: () => Promise<(text: string, options: Options) => Span[]>,
): ChunkingStrategy {
  return async (raw) => {
    const options = parse(raw);
    const chunk = await load();
    return (text) => chunk(text, options);
  };
}

/**
 * The chunker for a strategy and its options.
 *
 * @throws `CHUNK_OPTIONS_INVALID` for an unknown strategy, an unknown option or a value that makes no sense
 */
export async function createChunker(strategy: string, options: RawOptions): Promise<Chunker> {
  if (!Object.hasOwn(strategies, strategy)) {
    throw new QuiverError(
      'CHUNK_OPTIONS_INVALID',
      `There is no chunking strategy '${strategy}'. Known: ${Object.keys(strategies).join(', ')}.`,
    );
  }
  // The check above made sure that the name is one of the table's.
  return strategies[strategy as StrategyName](options);
}
