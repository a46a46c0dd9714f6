// Measures how well ways of retrieval find what questions need: node src/main.ts [--data <folder>] [--collection <name>] [--report <file>]
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { toErrorMessage } from '@quiver/core';
import { evaluationToHtml } from '@quiver/devtools/evaluate';
import { createGraphRAGTool, createLexicalEmbedder, ingest } from '@quiver/rag';
import { evaluateRetrieval } from '@quiver/rag/evaluate';
import { LocalVector } from '@quiver/rag/local';
import { readDecisions, readTestCollection } from './collection.ts';

/** The least recall of keyword search: below it, the program fails, as a check in your CI would. */
const leastRecall = 0.5;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: process.env['QUIVER_DATA'] ?? '' },
      collection: { type: 'string', default: 'hotpotqa' },
      report: { type: 'string', default: 'evaluation.html' },
    },
  });
  const { name, documents, cases } = values.data
    ? await readTestCollection(values.data, values.collection)
    : await readDecisions();

  const embedder = createLexicalEmbedder();
  const store = new LocalVector();
  const indexName = 'documents';
  await ingest({ documents, vectorStore: store, indexName, model: embedder, chunkOptions: { maxSize: 400 } });
  const evaluation = await evaluateRetrieval({
    vectorStore: store,
    indexName,
    cases,
    configurations: [
      { name: 'keyword', mode: 'keyword' },
      { name: 'hybrid', mode: 'hybrid', model: embedder },
      { name: 'graph', retrieve: createGraphRAGTool({ vectorStore: store, indexName, model: embedder }) },
    ],
    onProgress: ({ done, total, configuration }) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${configuration}: ${done} of ${total} `);
    },
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  await writeFile(values.report, evaluationToHtml(evaluation, { title: name }));
  console.log(`${name}: ${documents.length} documents, ${cases.length} questions`);
  console.table(
    Object.fromEntries(
      evaluation.configurations.map((one) => [
        one.name,
        Object.fromEntries(
          Object.entries(one.metrics).map(([metric, { mean, low, high }]) => [
            metric,
            `${mean.toFixed(3)} (${low.toFixed(2)}–${high.toFixed(2)})`,
          ]),
        ),
      ]),
    ),
  );
  console.log(`The report with every question is in ${values.report}`);

  const recall = evaluation.configurations[0]?.metrics.recallAt5?.mean ?? 0;
  if (recall < leastRecall) throw new Error(`recallAt5 of keyword search is ${recall}, below ${leastRecall}.`);
}

try {
  await main();
} catch (error) {
  console.error(toErrorMessage(error));
  process.exitCode = 1;
}
