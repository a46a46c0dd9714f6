// Finds the passages of a folder that answer a question: node src/main.ts [folder] ["question"] [--index <folder>]
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { toErrorMessage } from '@quiver/core';
import { createLexicalEmbedder, ingest, rerank, toEmbedder } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { loadDocuments } from '@quiver/loaders';
import { createProgressLine } from './progress-line.ts';
import { wordOverlap } from './word-overlap.ts';

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { index: { type: 'string' } } });
  const [folder = join(import.meta.dirname, '../../../docs'), ...questions] = positionals;
  const question = questions.join(' ') || 'What does INGEST_EMBEDDER_CHANGED mean?';
  const interrupted = new AbortController();
  process.once('SIGINT', () =>
    interrupted.abort(new Error('Interrupted. The index keeps the documents indexed so far.')),
  );
  const { signal } = interrupted;

  // With a key, models embed and rerank. Without one, the example compares words.
  const hasKey = Boolean(process.env['OPENAI_API_KEY']);
  const embedder = hasKey ? toEmbedder('openai/text-embedding-3-small') : createLexicalEmbedder();
  const judge = hasKey ? 'openai/gpt-5.1' : wordOverlap;
  // Vectors of different embedders are not comparable, so each embedder has a separate index.
  const indexName = hasKey ? 'openai' : 'lexical';

  const path = resolve(values.index ?? '.quiver');
  await mkdir(path, { recursive: true });
  await using store = new LocalVector({ path });
  const indexingStarted = performance.now();
  const progress = createProgressLine();
  let files = 0;
  const report = await ingest({
    documents: loadDocuments(resolve(folder), {
      include: ['**/*.{md,html,txt,pdf}'],
      onSkip: ({ path: file, reason }) => console.error(`Skipped    ${file}: ${reason}`),
      onProgress: ({ total, skipped }) => (files = total - skipped),
    }),
    chunkOptions: { maxSize: 500 },
    vectorStore: store,
    indexName,
    model: embedder,
    cleanup: 'all',
    onProgress: (ingested) => progress.show(ingested, files),
    signal,
  });
  progress.end();
  if (report.documents === 0) throw new Error(`The folder ${folder} contains no readable documents.`);
  const { documents, added, unchanged, removed } = report;
  console.log(
    `Indexed    ${documents} documents: ${added} passages embedded, ${unchanged} unchanged, ${removed} removed (${since(indexingStarted)})`,
  );

  const askingStarted = performance.now();
  const [queryVector] = await embedder.embed([question], { purpose: 'query', signal });
  if (!queryVector) throw new Error('The embedder returned no vector.');
  const fusion = { vector: embedder.hybridWeight ?? 1 };
  const search = { mode: 'hybrid', queryVector, queryText: question, fusion } as const;
  const found = await store.query({ indexName, ...search, topK: 20, signal });
  // Scores of hybrid search spread from 0 to 1, so the judge gets more weight than its default of .4.
  const weights = { semantic: 0.8, vector: 0.1, position: 0.1 };
  const best = await rerank(found, question, judge, { topK: 3, weights, signal });
  console.log(`Question   ${question} (${since(askingStarted)})`);
  for (const [index, { result, score }] of best.entries()) {
    const { source, headings = [] } = result.metadata as { source: string; headings?: string[] };
    console.log(`\n${index + 1}. ${score.toFixed(3)}  ${[source, ...headings].join(' › ')}`);
    console.log(`          ${(result.document ?? '').replaceAll(/\s+/g, ' ')}`);
  }
}

function since(started: number): string {
  const milliseconds = performance.now() - started;
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

try {
  await main();
} catch (error) {
  console.error(toErrorMessage(error));
  process.exitCode = 1;
}
