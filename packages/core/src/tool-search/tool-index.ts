import { anyValue, checkOptions, functionValue, objectWith, wholeNumber, type OptionChecks } from '../options.js';
import { describeTool, type SearchableTool, type ToolDescription } from './describe-tool.js';
import { readRequest, splitWords } from './tool-words.js';

/** Model that turns texts into vectors, such as an `Embedder` of `@quiver/rag`. */
export interface ToolEmbedder {
  embed(texts: string[], options: { purpose: 'document' | 'query'; signal?: AbortSignal }): PromiseLike<number[][]>;
}

/** Options of {@link createToolIndex}. */
export interface ToolIndexOptions {
  /** Adds the order of meaning to that of words. The tools are embedded at the first search. Default: words only. */
  embedder?: ToolEmbedder;
}

/** Options of a search. */
export interface ToolSearchOptions {
  /** Default 5. */
  maxResults?: number;
  /** Whether a tool may be found. A tool that is left out takes no place. Default: all. */
  isVisible?: (name: string) => boolean;
  signal?: AbortSignal;
}

/** A tool that fits a request. */
export interface ToolMatch {
  name: string;
  /** Comparable within one search only. */
  score: number;
  tool: ToolDescription;
}

/** Finds those of many tools that fit a request. */
export interface ToolIndex {
  /** All tools, in their order. */
  readonly tools: readonly ToolDescription[];
  /**
   * Returns the tools that fit a request, best first; an empty list when none shares a word with it and there is no embedder.
   *
   * @throws the error of the embedder; the abort reason
   */
  search(query: string, options?: ToolSearchOptions): Promise<ToolMatch[]>;
}

export const embedderChecks: OptionChecks<ToolIndexOptions> = { embedder: objectWith('an embedder', 'embed') };
const searchChecks: OptionChecks<ToolSearchOptions> = {
  maxResults: wholeNumber(1),
  isVisible: functionValue,
  signal: anyValue,
};

/** Characters of a description that say what a tool is for; examples and warnings follow. */
const LEAD = 200;

/** Weights of the fields of a definition, and how much their length matters. A word of the name says most. */
const fields = [
  { of: ({ name }: ToolDescription) => name, weight: 8, length: 0.5 },
  { of: ({ title }: ToolDescription) => title ?? '', weight: 2, length: 0.5 },
  { of: ({ description }: ToolDescription) => (description ?? '').slice(0, LEAD), weight: 1.5, length: 0.75 },
  { of: ({ description }: ToolDescription) => (description ?? '').slice(LEAD), weight: 0.5, length: 1 },
  { of: ({ parameters }: ToolDescription) => parameters, weight: 0.1, length: 0.7 },
  { of: ({ server }: ToolDescription) => server ?? '', weight: 1, length: 0 },
] as const;

/** Saturation of repeated words, as usual for BM25. */
const K1 = 1.2;
/** Weight of a word of the same meaning. */
const SYNONYM = 0.6;
/** Constant of reciprocal rank fusion. */
const FUSION = 60;

/**
 * Creates an index over the definitions of tools: BM25 over names (split at case, `_`, `-` and `.`), titles, descriptions, parameters and
 * servers, each with a separate weight. Vectors are fused by their ranks where an embedder is given.
 *
 * @param tools - by name, or as a list of definitions such as those of `tools/list`
 * @throws `OPTIONS_INVALID`
 * @example
 * const index = createToolIndex(await mcp.listTools());
 * const [best] = await index.search('What is the weather in Oslo?');
 * @see [The probabilistic relevance framework: BM25 and beyond](https://doi.org/10.1561/1500000019), section 3.6 (BM25F)
 */
export function createToolIndex(
  tools: Readonly<Record<string, object>> | readonly SearchableTool[],
  options: ToolIndexOptions = {},
): ToolIndex {
  checkOptions('createToolIndex', options, embedderChecks);
  const described = Array.isArray(tools)
    ? tools.map((tool: SearchableTool) => describeTool(tool.name, tool))
    : Object.entries(tools).map(([name, tool]) => describeTool(name, tool));
  const postings = countWords(described);
  const { embedder } = options;
  let vectors: PromiseLike<number[][]> | undefined;

  async function compareVectors(embed: ToolEmbedder, query: string, signal?: AbortSignal): Promise<number[]> {
    vectors ??= embed.embed(described.map(toText), { purpose: 'document' });
    const rows = await vectors.then(undefined, (error: unknown) => {
      vectors = undefined;
      throw error;
    });
    const [vector = []] = await embed.embed([query], { purpose: 'query', ...(signal && { signal }) });
    return rows.map((row) => cosine(row, vector));
  }

  return {
    tools: described,
    async search(query, searchOptions = {}) {
      checkOptions('search', searchOptions, searchChecks);
      const { maxResults = 5, isVisible, signal } = searchOptions;
      signal?.throwIfAborted();
      const visible = (rows: Iterable<number>): number[] =>
        [...rows].filter((row) => !isVisible || isVisible(described[row]?.name ?? ''));
      const scores = scoreWords(postings, described.length, query);
      const byWords = visible(scores.keys()).toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || a - b);
      let ranked = byWords.map((row) => ({ row, score: scores.get(row) ?? 0 }));
      if (embedder && described.length > 0) {
        const similarity = await compareVectors(embedder, query, signal);
        const byMeaning = visible(similarity.keys()).toSorted((a, b) => (similarity[b] ?? 0) - (similarity[a] ?? 0));
        ranked = fuse(byWords, byMeaning);
      }
      return ranked.slice(0, maxResults).flatMap(({ row, score }) => {
        const tool = described[row];
        return tool ? [{ name: tool.name, score, tool }] : [];
      });
    },
  };
}

function toText({ name, title, description, parameters }: ToolDescription): string {
  return [splitWords(name).join(' '), title, description, parameters].filter(Boolean).join('\n');
}

/** The tools of each word, with the weighted frequency. */
type Postings = Map<string, { row: number; frequency: number }[]>;

function countWords(tools: readonly ToolDescription[]): Postings {
  const postings: Postings = new Map();
  const frequencies = tools.map(() => new Map<string, number>());
  for (const { of, weight, length } of fields) {
    const words = tools.map((tool) => splitWords(of(tool)));
    const average = words.reduce((sum, list) => sum + list.length, 0) / Math.max(1, words.length) || 1;
    for (const [row, list] of words.entries()) {
      const share = weight / (1 - length + (length * list.length) / average);
      const counts = frequencies[row];
      for (const word of list) counts?.set(word, (counts.get(word) ?? 0) + share);
    }
  }
  for (const [row, counts] of frequencies.entries()) {
    for (const [word, frequency] of counts) {
      const list = postings.get(word) ?? [];
      list.push({ row, frequency });
      postings.set(word, list);
    }
  }
  return postings;
}

function scoreWords(postings: Postings, count: number, query: string): Map<number, number> {
  const scores = new Map<number, number>();
  const rarityOf = (word: string): number => {
    const found = (postings.get(word) ?? []).reduce((sum, { frequency }) => sum + Math.min(1, frequency), 0);
    return Math.log(1 + (count - found + 0.5) / (found + 0.5));
  };
  for (const { word, others } of readRequest(query)) {
    const best = new Map<number, number>();
    for (const same of [word, ...others]) {
      const weight = Math.min(rarityOf(word), rarityOf(same)) * (same === word ? 1 : SYNONYM);
      for (const { row, frequency } of postings.get(same) ?? [])
        best.set(row, Math.max(best.get(row) ?? 0, (weight * frequency) / (K1 + frequency)));
    }
    for (const [row, score] of best) scores.set(row, (scores.get(row) ?? 0) + score);
  }
  return scores;
}

function fuse(...rankings: readonly number[][]): { row: number; score: number }[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings)
    for (const [rank, row] of ranking.entries()) scores.set(row, (scores.get(row) ?? 0) + 1 / (FUSION + rank + 1));
  return [...scores].map(([row, score]) => ({ row, score })).toSorted((a, b) => b.score - a.score || a.row - b.row);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let product = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    product += value * other;
    lengthA += value * value;
    lengthB += other * other;
  }
  return lengthA > 0 && lengthB > 0 ? product / Math.sqrt(lengthA * lengthB) : 0;
}
