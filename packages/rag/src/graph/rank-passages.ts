import type { Question } from '../search/question.js';
import type { VectorMatch, VectorRecord } from '../store/index.js';
import { bestOf, type ChunkEdge, type ChunkGraph } from './chunk-graph.js';
import type { GraphSettings } from './graph-options.js';
import type { TitledPassage } from './titles-in-query.js';

export interface RankingRequest {
  readonly graph: ChunkGraph;
  readonly queryText: string;
  /** The same, in a form that texts are compared with. */
  readonly question: Question;
  /** Results of the search for the query, best first: the first ones are seeds. */
  readonly matches: readonly VectorMatch[];
  readonly settings: GraphSettings;
  /** Whether a passage may be used. Default all. */
  readonly allowed: ((id: string) => boolean) | undefined;
  /** Reads passages of the graph; those that cannot be used are absent. */
  readonly read: (ids: readonly string[]) => Promise<readonly VectorRecord[]>;
}

/** Number of results of a search where ranking starts. */
export const seedCount = 10;
/** Best passages whose neighbors may have the words that they lack. */
const completed = 4;
/** Neighbors of each of them that are read: those with the heaviest edges. */
const neighborsRead = 10;
/** Weight of the score of a passage for its neighbors with the words that it lacks. */
const completionWeight = 0.5;
/** Share of the trigrams of a word that a passage with the word has: a form of it shares most of them, and half of them make another word. */
const leastShare = 0.6;
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
 * Decision 0080 shows what each step brings, and how the weights were chosen; decision 0310 has the numbers of step 2.
 */
export async function rankPassages(request: RankingRequest): Promise<PassageRanking> {
  const { graph, queryText, settings, allowed } = request;
  const titled = graph.titlesIn(queryText, allowed);
  const isTitled = new Set(titled.map(({ id }) => id));
  const matches = request.matches.filter(({ id }) => allowed?.(id) ?? true);
  const searched = matches.filter(({ id }) => graph.has(id)).slice(0, seedCount);
  const direct = searched.filter(({ id, score }) => !isTitled.has(id) && score > 0);
  const { scores: ranks, pathsTo } = graph.walk({
    // Titles share the first place; results of the search follow.
    seeds: [...titled.map(({ id }) => [id, 1] as const), ...weighByRank(direct, titled.length > 0 ? 2 : 1)],
    restartProb: settings.restartProb,
    maxIterations: settings.randomWalkSteps,
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

/**
 * Returns results of a search as seeds, best first. They count by their rank, 1, 1/4, 1/9, …, because scores of different searches are not
 * comparable, and fused scores carry little more than the order.
 *
 * @param first - rank of the first one. Default 1
 */
export function weighByRank(matches: readonly VectorMatch[], first = 1): [id: string, weight: number][] {
  return matches.map(({ id }, place) => [id, 1 / (place + first) ** 2]);
}

/** A passage with words of the query that one of its neighbors, which ranks high, lacks. */
interface Completion {
  readonly edge: ChunkEdge;
  readonly gain: number;
  /** Words that the passage has and the start of the edge lacks. */
  readonly added: readonly string[];
}

/** Finds the words of the query that the best passages lack in their neighbors. Rare words count more. */
async function findCompletions(
  { graph, question, read }: RankingRequest,
  ranks: ReadonlyMap<string, number>,
): Promise<Completion[]> {
  const best = bestOf(ranks, completed).map((passage) => {
    const seen = new Set<string>();
    const edges = graph.neighbors(passage.id).toSorted((a, b) => b.weight - a.weight);
    // The heaviest of several edges to one neighbor.
    const further = edges.filter(({ to }) => !seen.has(to) && seen.add(to));
    return { ...passage, edges: further.slice(0, neighborsRead) };
  });
  const ids = new Set(best.flatMap(({ id, edges }) => [id, ...edges.map(({ to }) => to)]));
  const wordsOf = new Map((await read([...ids])).map((record) => [record.id, wordsIn(question, record)]));
  const weights = weighWords(question, [...wordsOf.values()]);
  const sumOf = (words: readonly number[]): number => words.reduce((sum, word) => sum + (weights[word] as number), 0);
  return best.flatMap(({ id, score, edges }) => {
    const own = wordsOf.get(id);
    const lacking = own ? [...question.words.keys()].filter((word) => !own.includes(word)) : [];
    return edges.flatMap((edge): Completion[] => {
      const found = wordsOf.get(edge.to)?.filter((word) => lacking.includes(word)) ?? [];
      if (found.length === 0) return [];
      const gain = (completionWeight * score * sumOf(found)) / sumOf(lacking);
      return [{ edge, gain, added: found.map((word) => question.words[word]?.text as string) }];
    });
  });
}

/** Returns which words of a query a passage contains, by their places. */
function wordsIn(question: Question, record: VectorRecord): number[] {
  const { above, lines } = question.findIn(record);
  const found = new Set([...above, ...lines.flat()]);
  return question.words.flatMap(({ trigrams }, word) =>
    trigrams.filter((trigram) => found.has(trigram)).length >= leastShare * trigrams.length ? [word] : [],
  );
}

/** Returns the weight of each word of a query: more, the fewer passages contain it. @param passages - words of each */
function weighWords({ words }: Question, passages: readonly (readonly number[])[]): number[] {
  return words.map(({ weight }, word) => {
    const frequency = passages.filter((each) => each.includes(word)).length;
    return weight * Math.log(1 + (passages.length + 1) / (frequency + 0.5));
  });
}

interface PathSources extends Pick<RankingRequest, 'graph'> {
  readonly found: readonly { readonly id: string }[];
  readonly titled: readonly TitledPassage[];
  readonly direct: readonly VectorMatch[];
  readonly completions: readonly Completion[];
  readonly pathsTo: (ids: Iterable<string>) => Map<string, ChunkEdge[]>;
}

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
  return { ...edge, reason: `${edge.reason}, and it adds ${added.map((word) => `“${word}”`).join(', ')}` };
}
