import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Documents, queries, and the relevant documents of each query. */
export interface TestCollection {
  readonly name: string;
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[];
  readonly questions: readonly { readonly id: string; readonly text: string }[];
  /** Relevance of each relevant document, by query. */
  readonly gains: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Means over all queries. */
export interface Quality {
  readonly 'nDCG@10': number;
  readonly 'recall@5': number;
  readonly 'recall@10': number;
  /** Share of the queries whose relevant documents are all among the first five. */
  readonly 'all@5': number;
  readonly 'MRR@10': number;
}

/**
 * The collections `cranfield` and `hotpotqa` of a folder: `docs.jsonl` (id, title, text), `queries.jsonl` (id, text), `qrels.jsonl` (query,
 * doc, gain). `undefined` without them: this repository does not contain them.
 */
export function readTestCollections(folder: string | undefined): TestCollection[] | undefined {
  const names = ['cranfield', 'hotpotqa'];
  if (!folder || !names.every((name) => existsSync(join(folder, name, 'docs.jsonl')))) return undefined;
  return names.map((name) => {
    const gains = new Map<string, Map<string, number>>();
    for (const { query, doc, gain } of readLines<{ query: string; doc: string; gain: number }>(folder, name, 'qrels')) {
      gains.set(query, (gains.get(query) ?? new Map<string, number>()).set(doc, gain));
    }
    return {
      name,
      documents: readLines<{ id: string; title: string; text: string }>(folder, name, 'docs').map(
        ({ id, title, text }) => ({ id, title, text: `${title} ${text}` }),
      ),
      questions: readLines<{ id: string; text: string }>(folder, name, 'queries'),
      gains,
    };
  });
}

/** @param rank - ids of the best ten documents at least, best first */
export async function measureQuality(
  { questions, gains }: TestCollection,
  rank: (question: string) => Promise<readonly string[]>,
): Promise<Quality> {
  const sums = { 'nDCG@10': 0, 'recall@5': 0, 'recall@10': 0, 'all@5': 0, 'MRR@10': 0 };
  for (const { id, text } of questions) {
    const relevant = gains.get(id) ?? new Map<string, number>();
    const found = (await rank(text)).slice(0, 10).map((document) => relevant.get(document) ?? 0);
    const hits = (places: number): number => found.slice(0, places).filter((gain) => gain > 0).length;
    const first = found.findIndex((gain) => gain > 0);
    sums['nDCG@10'] += discounted(found) / discounted([...relevant.values()].toSorted((a, b) => b - a));
    sums['recall@5'] += hits(5) / relevant.size;
    sums['recall@10'] += hits(10) / relevant.size;
    sums['all@5'] += hits(5) === relevant.size ? 1 : 0;
    sums['MRR@10'] += first === -1 ? 0 : 1 / (first + 1);
  }
  return Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [name, sum / questions.length]),
  ) as unknown as Quality;
}

function discounted(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, place) => sum + gain / Math.log2(place + 2), 0);
}

function readLines<Row>(folder: string, name: string, file: string): Row[] {
  const lines = readFileSync(join(folder, name, `${file}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}
