import { english, type Language } from '../words/languages.js';
import { loadAnalyzer, toAnalyzerId } from '../words/term-analyzer.js';
import { TopK } from '../store/top-k.js';
import { recordText } from '../store/record-text.js';
import type { VectorMatch, VectorRecord } from '../store/index.js';
import { roundScore, type ChunkEdge, type ChunkGraph } from './chunk-graph.js';
import type { GraphSettings } from './graph-options.js';
import type { TitledPassage } from './titles-in-query.js';

export interface RankingRequest {
  readonly graph: ChunkGraph;
  readonly queryText: string;
  /** Results of the search for the query, best first: the first ones are seeds. */
  readonly matches: readonly VectorMatch[];
  readonly settings: GraphSettings;
  /** Whether a passage may be used. Default all. */
  readonly allowed: ((id: string) => boolean) | undefined;
  /** Reads passages of the graph; those that cannot be used are absent. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, VectorRecord>>;
  /** Searches by keywords. Absent where the query searches by vectors only. */
  readonly searchKeywords: ((queryText: string, topK: number) => Promise<VectorMatch[]>) | undefined;
}

/** Number of results of a search where ranking starts. */
export const seedCount = 10;
/**
 * Ranks below this are not passed on. On six test collections the results equal those of 1e-7, at half of the time.
 */
const tolerance = 1e-5;
/** Best passages whose neighbors are searched for the words that they lack. */
const completed = 4;
/** Weight of the score of a passage for its neighbors with the words that it lacks. */
const completionWeight = 0.5;
/** Results of a search for words that a passage lacks. */
const completionDepth = 100;
/** Weight of the search, compared with the walk, for a query that names no title. */
const searchWeight = 3;

export interface PassageRanking {
  /** Returns the best passages with their scores as shares of the best one, best first; equal ones by id. */
  readonly best: (topK: number) => { id: string; score: number }[];
  /** Returns the steps that lead to some of them, with their reasons. Those to the best take the least time. */
  readonly explain: (found: readonly { readonly id: string }[]) => Map<string, ChunkEdge[]>;
}

/**
 * Ranks the passages of a graph for a query.
 *
 * 1. A random walk starts at the passages whose titles the query names, and at the results of a search.
 * 2. Where one of the best passages lacks words of the query, its neighbors with these words gain a part of its score.
 * 3. A query that names no title may well be answered by one passage, so the score of the search is added to that of the walk.
 *
 * Decision 0080 shows what each step brings, and how the weights were chosen.
 */
export async function rankPassages(request: RankingRequest): Promise<PassageRanking> {
  const { graph, queryText, settings, allowed } = request;
  const titled = graph.titlesIn(queryText, allowed);
  const isTitled = new Set(titled.map(({ id }) => id));
  const matches = request.matches.filter(({ id }) => allowed?.(id) ?? true);
  const searched = matches.filter(({ id }) => graph.has(id)).slice(0, seedCount);
  const direct = searched.filter(({ id, score }) => !isTitled.has(id) && score > 0);
  const first = titled.length > 0 ? 2 : 1;
  const { scores: ranks, pathsTo } = graph.walk({
    // Titles share the first place; results of the search follow.
    seeds: [
      ...titled.map(({ id }) => [id, 1] as const),
      ...direct.map(({ id }, place) => [id, 1 / (place + first) ** 2] as const),
    ],
    restartProb: settings.restartProb,
    maxIterations: settings.randomWalkSteps,
    tolerance,
    allowed,
  });
  const scores = new Map(ranks);
  const add = (id: string, gain: number): void => void scores.set(id, (scores.get(id) ?? 0) + gain);
  const completions = await findCompletions(request, ranks);
  for (const { edge, gain } of completions) add(edge.to, gain);
  const [best] = matches;
  if (titled.length === 0 && best && best.score > 0) {
    for (const { id, score } of matches) if (score > 0) add(id, (searchWeight * score) / best.score);
  }
  return {
    best: (topK) => bestOf(scores, topK),
    explain: (found) => explainPaths({ found, graph, titled, direct, completions, pathsTo }),
  };
}

/** Returns the best passages with their scores as shares of the best one. */
function bestOf(scores: ReadonlyMap<string, number>, topK: number): { id: string; score: number }[] {
  const all = [...scores];
  const largest = all.reduce((most, [, score]) => Math.max(most, score), 0);
  const top = new TopK(topK, (row) => (all[row] as [string, number])[0]);
  for (const [row, [, score]] of all.entries()) top.offer(row, roundScore(score / largest));
  return top.toSorted().map(({ row, similarity: score }) => ({ id: (all[row] as [string, number])[0], score }));
}

/** A passage with words of the query that one of its neighbors, which ranks high, lacks. */
interface Completion {
  /** Leads to the passage. */
  readonly edge: ChunkEdge;
  readonly gain: number;
  /** Returns the words that the passage has and the start of the edge lacks. */
  readonly added: () => readonly string[];
}

/** Searches the neighbors of the best passages for the words of the query that these passages lack. */
async function findCompletions(
  { graph, queryText, read, searchKeywords }: RankingRequest,
  ranks: ReadonlyMap<string, number>,
): Promise<Completion[]> {
  if (!searchKeywords) return [];
  const best = bestOf(ranks, completed);
  const records = await read(best.map(({ id }) => id));
  const words = queryText.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const analyzer = await loadAnalyzer(toAnalyzerId('auto'));
  const languageOf = (record: VectorRecord): Language =>
    analyzer.languageOf(recordText(record), record.metadata['language']) ?? english;
  await analyzer.load([...records.values()].map(languageOf));
  /** Returns which words have a term in a passage, in its language, and which have a term that it lacks. */
  const compare = (record: VectorRecord, among: readonly string[]): Record<'has' | 'lacks', string[]> => {
    const language = languageOf(record);
    const known = new Set(analyzer.toContentTerms(recordText(record), language));
    const which = (isKnown: boolean): string[] =>
      among.filter((word) => analyzer.toContentTerms(word, language).some((term) => known.has(term) === isKnown));
    return { has: which(true), lacks: which(false) };
  };
  const found = best.map(async ({ id, score }): Promise<Completion[]> => {
    const record = records.get(id);
    const edges = heaviestByEnd(graph.neighbors(id));
    if (!record || edges.size === 0) return [];
    const { lacks: lacking } = compare(record, words);
    if (lacking.length === 0) return [];
    const matches = await searchKeywords(lacking.join(' '), completionDepth);
    const largest = matches[0]?.score ?? 0;
    const completions = matches.flatMap((match) => {
      const edge = edges.get(match.id);
      return edge && match.score > 0 ? [{ match, edge }] : [];
    });
    await analyzer.load(completions.map(({ match }) => languageOf(match)));
    return completions.map(({ match, edge }) => ({
      edge,
      gain: (completionWeight * score * match.score) / largest,
      added: () => compare(match, lacking).has,
    }));
  });
  return (await Promise.all(found)).flat();
}

function heaviestByEnd(edges: readonly ChunkEdge[]): Map<string, ChunkEdge> {
  const heaviest = new Map<string, ChunkEdge>();
  for (const edge of edges) if (!((heaviest.get(edge.to)?.weight ?? 0) >= edge.weight)) heaviest.set(edge.to, edge);
  return heaviest;
}

interface PathSources extends Pick<RankingRequest, 'graph'> {
  readonly found: readonly { readonly id: string }[];
  readonly titled: readonly TitledPassage[];
  readonly direct: readonly VectorMatch[];
  readonly completions: readonly Completion[];
  readonly pathsTo: (ids: Iterable<string>) => Map<string, ChunkEdge[]>;
}

/** Returns the steps that lead to the passages that were found, with their reasons. */
function explainPaths({ found, graph, titled, direct, completions, pathsTo }: PathSources): Map<string, ChunkEdge[]> {
  const titles = new Map(titled.map(({ id, name }) => [id, name]));
  const isDirect = new Set(direct.map(({ id }) => id));
  const best = new Map<string, Completion>();
  for (const completion of completions) {
    const { to } = completion.edge;
    if (titles.has(to) || isDirect.has(to)) continue;
    if (completion.gain > (best.get(to)?.gain ?? 0)) best.set(to, completion);
  }
  // A match of the search that was added after the graph was built is not in it.
  const ends = found.map(({ id }) => ({ id, end: best.get(id)?.edge.from ?? id })).filter(({ end }) => graph.has(end));
  const paths = pathsTo(ends.map(({ end }) => end));
  return new Map(
    ends.map(({ id, end }) => {
      const steps = paths.get(end) ?? [];
      const start = steps[0]?.from ?? end;
      const title = titles.get(start);
      const completion = best.get(id);
      return [
        id,
        [
          ...(title === undefined ? [] : [titleStep(start, title)]),
          ...steps,
          ...(completion ? [completionStep(completion)] : []),
        ],
      ];
    }),
  );
}

/** Leads from a passage to itself, because edges connect passages only. */
function titleStep(id: string, title: string): ChunkEdge {
  return { from: id, to: id, kind: 'title', weight: 1, reason: `the query names “${title}”` };
}

function completionStep({ edge, added }: Completion): ChunkEdge {
  const words = Array.from(new Set(added()), (word) => `“${word}”`);
  // The terms of the store may differ, so that it finds a passage by a word that is not a term here.
  return words.length === 0 ? edge : { ...edge, reason: `${edge.reason}, and it adds ${words.join(', ')}` };
}
