import { QuiverError } from '@quiver/core';
import type { RawOptions } from './option-values.js';
import {
  parseCharacterOptions,
  parseHtmlOptions,
  parseJsonOptions,
  parseLatexOptions,
  parseMarkdownOptions,
  parseRecursiveOptions,
  parseSemanticMarkdownOptions,
  parseSentenceOptions,
  parseTokenStrategyOptions,
  type TokenStrategyOptions,
} from './parse-options.js';
import type { Measure } from './size-limit.js';
import type { Span } from './span.js';
import { createTokenCounter } from './token-counter.js';

export type StrategyName =
  | 'recursive'
  | 'character'
  | 'token'
  | 'sentence'
  | 'markdown'
  | 'semantic-markdown'
  | 'html'
  | 'json'
  | 'latex';

/** A strategy with its options bound: a pure function of the text. */
export type Chunker = (text: string) => Span[];

type ChunkingStrategy = (options: RawOptions) => Promise<Chunker>;

/** Every strategy, one line each. Its code is loaded when it is first used. */
const strategies: Readonly<Record<StrategyName, ChunkingStrategy>> = {
  recursive: define(parseRecursiveOptions, async () => (await import('./recursive.js')).chunkRecursively),
  character: define(parseCharacterOptions, async () => (await import('./character.js')).chunkByCharacter),
  token: defineInTokens(parseTokenStrategyOptions, async () => (await import('./token.js')).chunkByTokens),
  sentence: define(parseSentenceOptions, async () => (await import('./sentence.js')).chunkBySentence),
  markdown: define(parseMarkdownOptions, async () => (await import('./markdown.js')).chunkMarkdown),
  'semantic-markdown': defineInTokens(
    parseSemanticMarkdownOptions,
    async () => (await import('./semantic-markdown.js')).chunkSemanticMarkdown,
  ),
  html: define(parseHtmlOptions, async () => (await import('./html.js')).chunkHtml),
  json: define(parseJsonOptions, async () => (await import('./json.js')).chunkJson),
  latex: define(parseLatexOptions, async () => (await import('./latex.js')).chunkLatex),
};

type Load<Options> = () => Promise<(text: string, options: Options) => Span[]>;

function define<Options>(parse: (options: RawOptions) => Options, load: Load<Options>): ChunkingStrategy {
  return async (raw) => {
    const options = parse(raw);
    const chunk = await load();
    return (text) => chunk(text, options);
  };
}

/** A strategy whose sizes are numbers of tokens. */
function defineInTokens<Options extends TokenStrategyOptions>(
  parse: (options: RawOptions) => Options,
  load: Load<Options & { readonly measure: Measure }>,
): ChunkingStrategy {
  return async (raw) => {
    const options = parse(raw);
    const { count, requireAllowed } = await createTokenCounter(options.tokens);
    const chunk = await load();
    return (text) => {
      requireAllowed(text);
      return chunk(text, { ...options, measure: count });
    };
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
