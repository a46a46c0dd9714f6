// Quality of retrieval on two test collections, as a table:
//   npm run bench:quality [-- --data DIR]      (or QUIVER_DATA=DIR; default ../shared/data)
// The rows of PostgreSQL come from the server at QUIVER_POSTGRES_URL, or from a PostgreSQL inside this process. This repository does not
// contain the collections; without them, the program prints one line. The tests of packages/rag guard the same figures.
import { measureQuality, readTestCollections } from '../../packages/rag/src/retrieval/test-collection.fixture.ts';
import { createPgSystems } from './pg-systems.mjs';
import { createSystems } from './systems.mjs';
import { readFlags } from '../read-flags.mjs';

const values = readFlags({ data: { type: 'string', default: process.env.QUIVER_DATA || '../shared/data' } });
const collections = readTestCollections(values.data);
if (!collections) {
  console.log(`Quality was not measured: ${values.data} does not hold the collections cranfield and hotpotqa.`);
  process.exit(0);
}

const rows = [];
for (const collection of collections) {
  const pg = await createPgSystems(collection, process.env.QUIVER_POSTGRES_URL);
  for (const { name, rank } of [...(await createSystems(collection)), ...pg.systems]) {
    const quality = await measureQuality(collection, rank);
    rows.push([collection.name, name, ...Object.values(quality).map((value) => value.toFixed(4))]);
  }
  await pg.close();
}
const head = ['collection', 'system', 'nDCG@10', 'recall@5', 'recall@10', 'all@5', 'MRR@10'];
const toLine = (cells) => `| ${cells.join(' | ')} |`;
console.log([toLine(head), toLine(head.map(() => '---')), ...rows.map(toLine)].join('\n'));
