// Quality of retrieval on the test collections, as tables with confidence intervals:
//   npm run bench:quality -- --data DIR      (or QUIVER_DATA=DIR)
// Exits with 1 when the graph is worse than keyword search. The rows of PostgreSQL come from the server at QUIVER_POSTGRES_URL, or
// from a PostgreSQL inside this process. This repository does not contain the collections; the program names those that are absent
// and skips them. The tests of packages/rag guard the same figures.
import { evaluateRetrieval } from '@quiver/rag/evaluate';
import {
  findRegressions,
  guardedMetrics,
  readTestCollections,
} from '../../packages/rag/src/search/test-collection.fixture.ts';
import { createPgSystems } from './pg-systems.mjs';
import { createSystems } from './systems.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { table } from '../statistics.mjs';

const values = readFlags({ data: { type: 'string', default: process.env.QUIVER_DATA } });
if (!values.data) throw new Error('Name the folder of the collections: npm run bench:quality -- --data DIR');
const { collections, missing } = readTestCollections(values.data);
if (missing.length > 0)
  console.log(`Not measured, because ${values.data} does not contain them: ${missing.join(', ')}.`);

const toInterval = ({ mean, low, high }) => `${mean.toFixed(4)} (${low.toFixed(3)}–${high.toFixed(3)})`;
const failures = [];
for (const collection of collections) {
  const { name, cases } = collection;
  const { store, indexName, configurations } = await createSystems(collection);
  const pg = await createPgSystems(collection, process.env.QUIVER_POSTGRES_URL);
  const evaluation = await evaluateRetrieval({
    vectorStore: store,
    indexName,
    cases,
    metrics: guardedMetrics,
    configurations: [...configurations, ...pg.configurations],
  });
  await pg.close();
  console.log(`\n${name}: ${cases.length} queries, ${collection.documents.length} documents\n`);
  const rows = evaluation.configurations.map(({ name: system, metrics }) => {
    // The rankings of PostgreSQL itself are not those of Quiver.
    const label = system.startsWith('ts_rank') ? system : `Quiver, ${system}`;
    for (const metric of guardedMetrics) record(`quality/${name}/${metric}/${label}`, metrics[metric].mean, 'most');
    return [system, ...guardedMetrics.map((metric) => toInterval(metrics[metric]))];
  });
  const compared = evaluation.comparisons.filter(({ configuration }) => configuration === 'graph');
  const cells = compared.map(({ difference: { mean, low, high } }) => toInterval({ mean, low, high }));
  console.log(table(['system', ...guardedMetrics], [...rows, ['graph − keyword', ...cells]]));
  failures.push(...findRegressions(name, evaluation));
}
for (const failure of failures) console.error(`Regression: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;
