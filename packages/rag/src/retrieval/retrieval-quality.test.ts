import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder } from '../embedding/index.js';
import type { QueryMode } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { Bm25Index } from './bm25-index.js';
import { measureQuality, readTestCollections, type Quality, type TestCollection } from './test-collection.fixture.js';

// oxlint-disable-next-line node/no-process-env
const collections = readTestCollections(process.env['QUIVER_DATA']);
if (!collections)
  process.stderr.write(
    'The quality of search is not guarded: set QUIVER_DATA to the folder of the test collections.\n',
  );

/** BM25 over Porter's stems, computed elsewhere, by another program. */
const bm25: Record<string, Quality> = {
  cranfield: { 'nDCG@10': 0.3743, 'recall@5': 0.3039, 'recall@10': 0.4002, 'all@5': 0.0844, 'MRR@10': 0.5388 },
  hotpotqa: { 'nDCG@10': 0.8061, 'recall@5': 0.79, 'recall@10': 0.9, 'all@5': 0.58, 'MRR@10': 0.9058 },
};
/** The same over the terms of the recipe that came with the collections, as they publish it. */
const bm25OfRecipe: Record<string, Quality> = {
  cranfield: { 'nDCG@10': 0.3674, 'recall@5': 0.3069, 'recall@10': 0.4072, 'all@5': 0.076, 'MRR@10': 0.5172 },
  hotpotqa: { 'nDCG@10': 0.8009, 'recall@5': 0.785, 'recall@10': 0.895, 'all@5': 0.57, 'MRR@10': 0.8992 },
};
const tolerance = 0.002;

describe.runIf(collections)('on a test collection, Bm25Index', () => {
  it.each(collections ?? [])('equals what was published for its terms: $name', async (collection) => {
    const index = new Bm25Index({ toTerms: recipeTerms });
    collection.documents.forEach(({ text }, doc) => index.set(doc, text));
    // Equal scores keep the order of the documents.
    const idOf = (doc: number): string => String(doc).padStart(6, '0');
    const quality = await measureQuality(collection, async (question) =>
      index.search(question, { limit: 10, idOf }).map(({ doc }) => collection.documents[doc]?.id as string),
    );
    for (const [name, expected] of Object.entries(bm25OfRecipe[collection.name] ?? {}))
      expect(Math.abs(quality[name as keyof Quality] - expected), name).toBeLessThanOrEqual(0.0005);
  });
});

describe.runIf(collections)('on a test collection, LocalVector', () => {
  const embedder = createLexicalEmbedder();

  async function measure(collection: TestCollection, mode: QueryMode): Promise<Quality> {
    const store = new LocalVector();
    const { documents } = collection;
    const vectors = await embedder.embed(documents.map(({ text }) => text));
    await store.createIndex({ indexName: 'documents', dimension: embedder.dimension as number });
    await store.upsert({
      indexName: 'documents',
      ids: documents.map(({ id }) => id),
      vectors,
      documents: documents.map(({ text }) => text),
    });
    return measureQuality(collection, async (queryText) => {
      const [queryVector = []] = await embedder.embed([queryText], { purpose: 'query' });
      const fusion = { vector: embedder.hybridWeight as number };
      const matches = await store.query({ indexName: 'documents', mode, queryText, queryVector, fusion });
      return matches.map(({ id }) => id);
    });
  }

  it.each(collections ?? [])('finds exactly the documents of BM25 by keyword: $name', async (collection) => {
    const quality = await measure(collection, 'keyword');
    for (const [name, expected] of Object.entries(bm25[collection.name] ?? {}))
      expect(Math.abs(quality[name as keyof Quality] - expected), name).toBeLessThanOrEqual(tolerance);
  });

  it.each(collections ?? [])('finds by both at least as much: $name', async (collection) => {
    const quality = await measure(collection, 'hybrid');
    for (const [name, expected] of Object.entries(bm25[collection.name] ?? {}))
      expect(quality[name as keyof Quality], name).toBeGreaterThanOrEqual(expected - tolerance);
  });
});

/**
 * The terms of the recipe that the published figures of the test collections were made with: the stop words of `lexicalTerms`, and stems
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
