import { describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { createLexicalEmbedder } from '../embedding/index.js';
import { evaluateRetrieval, type RetrievalConfiguration } from '../evaluate/index.js';
import { LocalVector } from '../stores/local/index.js';
import { Bm25Index } from '../words/bm25-index.js';
import { guardedMetrics, readTestCollections, type TestCollection } from './test-collection.fixture.js';

const { collections, missing } = readTestCollections(readTestVariable('QUIVER_DATA'));
if (missing.length > 0)
  process.stderr.write(
    `The quality of search is not guarded on ${missing.join(', ')}: set QUIVER_DATA to the folder of the test collections.\n`,
  );

type Quality = Record<(typeof guardedMetrics)[number], number>;

/** BM25 over Porter's stems, computed elsewhere, by another program. */
const bm25: Record<string, Quality> = {
  cranfield: { ndcgAt10: 0.3743, recallAt5: 0.3039, recallAt10: 0.4002, allAt5: 0.0844, mrrAt10: 0.5388 },
  hotpotqa: { ndcgAt10: 0.8061, recallAt5: 0.79, recallAt10: 0.9, allAt5: 0.58, mrrAt10: 0.9058 },
};
/** The same over the terms of the recipe that came with the collections, as they publish it. */
const bm25OfRecipe: Record<string, Quality> = {
  cranfield: { ndcgAt10: 0.3674, recallAt5: 0.3069, recallAt10: 0.4072, allAt5: 0.076, mrrAt10: 0.5172 },
  hotpotqa: { ndcgAt10: 0.8009, recallAt5: 0.785, recallAt10: 0.895, allAt5: 0.57, mrrAt10: 0.8992 },
};
/** One passage of the 200 that are relevant in HotpotQA is .005. */
const tolerance = 0.0055;
const allowedLoss = 0.005;
const indexName = 'documents';

describe.runIf(collections.length > 0)('on a test collection', () => {
  const embedder = createLexicalEmbedder();

  it.each(collections.filter(({ name }) => name in bm25))(
    'Bm25Index equals what another program computed, and LocalVector is at least as good: $name',
    async (collection) => {
      await using store = await openStore(collection);
      const index = new Bm25Index();
      const { documents, cases, name } = collection;
      documents.forEach(({ text }, doc) => index.set(doc, recipeTerms(text)));
      // Equal scores keep the order of the documents.
      const idOf = (doc: number): string => String(doc).padStart(6, '0');
      const configurations: RetrievalConfiguration[] = [
        {
          name: 'recipe',
          retrieve: async (question, { topK }) =>
            index
              .search(
                recipeTerms(question).map((term) => ({ forms: [term], weight: 1, isQuestionWord: false })),
                { limit: topK, idOf },
              )
              .map(({ doc }) => ({ id: documents[doc]?.id as string })),
        },
        {
          name: 'keyword',
          retrieve: (queryText, { topK }) => store.query({ indexName, queryText, topK, mode: 'keyword' }),
        },
      ];
      const { configurations: reports } = await evaluateRetrieval({
        vectorStore: store,
        indexName,
        cases,
        configurations,
        metrics: guardedMetrics,
      });
      const differences = (report: number, expected: Record<string, Quality>): number[] =>
        guardedMetrics.map((metric) => {
          return (reports[report]?.metrics[metric]?.mean as number) - (expected[name] as Quality)[metric];
        });
      for (const difference of differences(0, bm25OfRecipe)) expect(Math.abs(difference)).toBeLessThanOrEqual(0.0005);
      for (const difference of differences(1, bm25)) expect(difference).toBeGreaterThanOrEqual(-tolerance);
    },
  );

  // Their texts have no headings and no sources: only the best sentence counts.
  it.each(collections)('query tools rank at least as well as the search of the store: $name', async (collection) => {
    await using store = await openStore(collection);
    const { configurations: reports } = await evaluateRetrieval({
      vectorStore: store,
      indexName,
      cases: collection.cases,
      configurations: [
        {
          name: 'store',
          retrieve: (queryText, { topK }) => store.query({ indexName, queryText, topK, mode: 'keyword' }),
        },
        { name: 'hybrid', mode: 'hybrid', model: embedder },
      ],
      metrics: ['ndcgAt10'],
    });
    const [ofStore, ofTool] = reports.map(({ metrics }) => metrics.ndcgAt10?.mean as number);
    process.stderr.write(
      `${collection.name}: nDCG@10 ${ofStore?.toFixed(4)} of the store, ${ofTool?.toFixed(4)} of the tool\n`,
    );
    expect(ofTool).toBeGreaterThanOrEqual((ofStore as number) - allowedLoss);
  });

  async function openStore({ documents }: TestCollection): Promise<LocalVector> {
    const store = new LocalVector();
    await store.createIndex({ indexName, dimension: embedder.dimension as number });
    await store.upsert({
      indexName,
      ids: documents.map(({ id }) => id),
      vectors: await embedder.embed(documents.map(({ text }) => text)),
      documents: documents.map(({ text }) => text),
    });
    return store;
  }
});

/**
 * The terms of the recipe that the published figures of the test collections were made with: its stop words, and stems
 * by a short list of suffixes. Another program's BM25 over these terms is what `Bm25Index` is compared with.
 */
function recipeTerms(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .normalize('NFKD')
      .replaceAll(/[̀-ͯ]/g, '')
      .match(/[a-z0-9]+/g) ?? [];
  return words.filter((word) => word.length > 1 && !recipeStopWords.has(word)).map((word) => stem(word));
}

const recipeStopWords = new Set(
  (
    'a an the of and or to in on for with by at from as is are was were be been it its this that these those which who whom what when ' +
    'where how why do does did has have had not no but if than then there their they he she his her him we you i my our your into over ' +
    'under between about also can could would should may might will shall such other more most some any each all one two'
  ).split(' '),
);

/** Applied in order; the first that leaves three letters wins. */
const suffixes: readonly (readonly [suffix: string, replacement: string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['fulness', 'ful'],
  ['iveness', 'ive'],
  ['ingly', ''],
  ['edly', ''],
  ['ies', 'y'],
  ['sses', 'ss'],
  ['ments', 'ment'],
  ['ing', ''],
  ['ed', ''],
  ['ly', ''],
  ['es', ''],
  ['s', ''],
];

function stem(word: string): string {
  if (word.endsWith('ss')) return word;
  for (const [suffix, replacement] of suffixes) {
    if (word.endsWith(suffix) && word.length - suffix.length >= 3) return word.slice(0, -suffix.length) + replacement;
  }
  return word;
}
