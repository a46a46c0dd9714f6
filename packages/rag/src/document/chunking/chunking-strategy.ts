import {
  booleanValue,
  functionValue,
  listOf,
  oneOf,
  stringValue,
  valueThat,
  wholeNumber,
  type OptionCheck,
  type OptionChecks,
  invalidOptions,
} from '@quiver/core/internal';
import { fixedKeys } from '../metadata-keys.js';
import type { CharacterChunkOptions } from './character.js';
import { commonChecks, readOptions, type MinSizeOptions, type RawOptions } from './chunk-options.js';
import { codeLanguages } from './code-languages.js';
import type { HtmlChunkOptions } from './html.js';
import type { JsonChunkOptions } from './json.js';
import type { LatexChunkOptions } from './latex.js';
import type { MarkdownChunkOptions } from './markdown.js';
import type { RecursiveChunkOptions } from './recursive.js';
import type { SemanticMarkdownChunkOptions } from './semantic-markdown.js';
import type { SentenceChunkOptions } from './sentence.js';
import type { Chunker } from './pack-spans.js';
import { encodingNames } from './token-counter.js';
import type { TokenChunkOptions } from './token.js';

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

type Load<Options> = () => Promise<(options: Options) => Chunker | Promise<Chunker>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const count = wholeNumber(0);
const textList = valueThat(
  (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  'a string or a list of strings',
);
const specialMarks = valueThat(
  (value) => isText(value) || ((Array.isArray(value) || value instanceof Set) && [...value].every(isText)),
  "'all', or a list or Set of strings",
);

/** Accepts pairs such as `['h1', 'title']`. */
function pairsOf(mark: string, pattern: RegExp): OptionCheck {
  const isPair = (pair: unknown): boolean => {
    const [name = '', key = ''] = Array.isArray(pair) && pair.every(isText) ? (pair as string[]) : [];
    return pattern.test(name.trim()) && key !== '' && !fixedKeys.has(key);
  };
  return listOf(valueThat(isPair, `a pair of ${mark} and a metadata key that Quiver does not write`));
}

const measured = { ...commonChecks, lengthFunction: functionValue };
const joined = { ...measured, minSize: count };
const separated = { separators: textList, separator: textList, isSeparatorRegex: booleanValue };
const models = { encodingName: oneOf(...encodingNames, 'gpt2'), modelName: stringValue };
const counted = { ...commonChecks, ...models, allowedSpecial: specialMarks, disallowedSpecial: specialMarks };
const lines = { ...joined, returnEachLine: booleanValue };
const elements = { headers: pairsOf('a heading', /^h[1-6]$/i), sections: pairsOf('an element', /^[a-z][a-z0-9-]*$/i) };
const marks = { headers: pairsOf('a mark', /^[^\s\p{L}\p{N}]+$/u), stripHeaders: booleanValue };
const sentences = { targetSize: wholeNumber(1), sentenceEnders: textList };
const fallbacks = { fallbackToWords: booleanValue, fallbackToCharacters: booleanValue };

const checks: { readonly [Name in StrategyName]: OptionChecks<StrategyOptions[Name]> } = {
  recursive: { ...joined, ...separated, language: oneOf(...codeLanguages) },
  character: { ...measured, ...separated },
  token: counted,
  sentence: { ...joined, ...sentences, ...fallbacks },
  markdown: { ...lines, ...marks },
  'semantic-markdown': { ...counted, joinThreshold: count },
  html: { ...lines, ...elements },
  json: { ...joined, ensureAscii: booleanValue, convertLists: booleanValue },
  latex: joined,
};

/** All strategies. A strategy is loaded at its first use. */
const strategies: { readonly [Name in StrategyName]: Load<StrategyOptions[Name]> } = {
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
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Value | undefined;
  return async () => (loaded ??= await load());
}

/** Chunking options. Without `strategy`, the type of the document decides: see `DocumentType`. */
export type ChunkParams =
  | {
      [Name in StrategyName]: Omit<StrategyOptions[Name], 'strategy'> & {
        /** Strategy of the split. Default: by the format of the document. */
        strategy: Name;
      };
    }[StrategyName]
  | (MinSizeOptions & { strategy?: never });

/**
 * Returns the chunker of a strategy with the given options.
 *
 * @throws `OPTIONS_INVALID` for an unknown strategy, an unknown option or an invalid value; `TOKENIZER_MISSING`
 */
export async function createChunker(strategy: string, options: RawOptions): Promise<Chunker> {
  if (!Object.hasOwn(strategies, strategy))
    throw invalidOptions(`There is no chunking strategy '${strategy}'. Known: ${Object.keys(strategies).join(', ')}.`);
  return readAndLoad(strategy as StrategyName, options);
}

async function readAndLoad<Name extends StrategyName>(name: Name, given: RawOptions): Promise<Chunker> {
  const options = readOptions<StrategyOptions[Name]>(name, given, checks[name]);
  const load: Load<StrategyOptions[Name]> = strategies[name];
  return (await load())(options);
}
