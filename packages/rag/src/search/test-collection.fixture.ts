import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Evaluation, RetrievalCase } from '../evaluate/index.js';

/** Documents, and queries with the relevant documents of each. */
export interface TestCollection {
  readonly name: string;
  /** The text begins with the title. */
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[];
  /** Bound to the ids of documents. */
  readonly cases: readonly RetrievalCase[];
}

const names = ['cranfield', 'hotpotqa', 'cisi', '2wiki', 'xquad-de', 'xquad-ru'];

/**
 * Reads the test collections of a folder: `docs.jsonl` (id, title, text), `queries.jsonl` (id, text), `qrels.jsonl` (query, doc, gain).
 * This repository does not contain them.
 *
 * @param maxCases - a larger collection is reduced to queries at equal distances. Default: all queries
 * @returns the collections that exist, and the names of those that do not
 */
export function readTestCollections(
  folder: string | undefined,
  maxCases = Infinity,
): { collections: TestCollection[]; missing: string[] } {
  const exists = (name: string): boolean => folder !== undefined && existsSync(join(folder, name, 'docs.jsonl'));
  const found = names.filter(exists);
  return {
    collections: found.map((name) => readCollection(join(folder ?? '', name), name, maxCases)),
    missing: names.filter((name) => !found.includes(name)),
  };
}

function readCollection(folder: string, name: string, maxCases: number): TestCollection {
  const relevant = new Map<string, { id: string; gain: number }[]>();
  for (const { query, doc, gain } of readLines<{ query: string; doc: string; gain: number }>(folder, 'qrels')) {
    relevant.set(query, [...(relevant.get(query) ?? []), { id: doc, gain }]);
  }
  const cases = readLines<{ id: string; text: string }>(folder, 'queries').map(({ id, text }) => ({
    question: text,
    relevant: relevant.get(id) ?? [],
  }));
  const step = Math.ceil(cases.length / maxCases) || 1;
  return {
    name,
    documents: readLines<{ id: string; title: string; text: string }>(folder, 'docs').map(({ id, title, text }) => {
      return { id, title, text: `${title} ${text}` };
    }),
    cases: cases.filter((_, place) => place % step === 0),
  };
}

function readLines<Row>(folder: string, file: string): Row[] {
  const lines = readFileSync(join(folder, `${file}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

/** Metrics of the guards. */
export const guardedMetrics = ['ndcgAt10', 'recallAt5', 'recallAt10', 'allAt5', 'mrrAt10'] as const;

/** Recall of the graph on collections whose queries need several documents, a little below what was measured. */
const leastRecall: Readonly<Record<string, number>> = { '2wiki': 0.87, hotpotqa: 0.94 };
/** Greatest loss of nDCG on collections whose queries need no connections. */
const greatestLoss: Readonly<Record<string, number>> = { cisi: 0.01, cranfield: 0.01 };
/** Greatest loss of MRR: one of the 76 queries of CISI changes it by .007, one of the 225 of Cranfield by .002, one of the 1,190 of XQuAD by up to .0008. */
const greatestMrrLoss: Readonly<Record<string, number>> = {
  cisi: 0.01,
  cranfield: 0.002,
  'xquad-de': 0.001,
  'xquad-ru': 0.001,
};

/**
 * Compares the configuration `graph` of an evaluation with `keyword`, its first one: the graph must help where queries need several
 * documents, and must not reduce quality elsewhere.
 *
 * @param name - name of the collection
 * @returns a sentence for each failure
 */
export function findRegressions(name: string, { configurations, comparisons }: Evaluation): string[] {
  const differenceOf = (metric: string): number =>
    comparisons.find((one) => one.configuration === 'graph' && one.metric === metric)?.difference.mean ?? Number.NaN;
  const recall = configurations.find((one) => one.name === 'graph')?.metrics.recallAt5?.mean ?? Number.NaN;
  const guards: [holds: boolean, failure: string][] = [
    [
      differenceOf('mrrAt10') >= -(greatestMrrLoss[name] ?? 0),
      `MRR@10 of the graph differs from keyword search by ${differenceOf('mrrAt10')}`,
    ],
    [
      differenceOf('ndcgAt10') >= -(greatestLoss[name] ?? 1),
      `nDCG@10 of the graph differs from keyword search by ${differenceOf('ndcgAt10')}`,
    ],
    [recall >= (leastRecall[name] ?? 0), `recall@5 of the graph is ${recall}`],
  ];
  return guards.flatMap(([holds, failure]) => (holds ? [] : [`${name}: ${failure}.`]));
}
