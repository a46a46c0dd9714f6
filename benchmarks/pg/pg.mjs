// Compares PgVector with equivalent SQL and, with --with-anchors, with @mastra/pg:
//
//   QUIVER_POSTGRES_URL=postgres://… pnpm --filter @quiver/benchmarks pg [-- --with-anchors] [--rounds 40] [--rows 30000]
//
// Build first (`pnpm build`). The benchmark works in separate schemas, which it deletes. In each round, every system runs the same query
// once, in turn, with cold processor caches; the tables show the median of the ratios within a round. Recall@10 compares with exact search.
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { installPackages } from '../install-packages.mjs';
import { createVectors, metadataOf } from './data.mjs';
import { bareSystem, mastraSystem, quiverSystem } from './systems.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const flags = readFlags({
  'with-anchors': { type: 'boolean', default: false },
  rounds: { type: 'string', default: '40' },
  rows: { type: 'string', default: '30000' },
});
const connectionString = process.env.QUIVER_POSTGRES_URL;
if (!connectionString)
  throw new Error('Set QUIVER_POSTGRES_URL to a PostgreSQL with pgvector; see .ci/services/postgres.sh.');
const rounds = Number(flags.rounds);
const rowCount = Number(flags.rows);
const dimension = 384;

const fromRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));
const { Pool } = fromRag('pg');
const toSql = (vector) => JSON.stringify(vector);
const { PgVector } = await import('../../packages/rag/dist/stores/pg/index.js');

const vectors = createVectors(rowCount, dimension, 1);
const questions = createVectors(rounds + 5, dimension, 2);
const pool = new Pool({ connectionString, max: 2 });
const schemas = ['quiver_bench', 'quiver_bench_fields', 'quiver_bench_rows', 'quiver_bench_graph'];
const dropSchemas = async () => {
  for (const schema of [...schemas, 'mastra_bench']) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
};
const anchors = flags['with-anchors']
  ? installPackages(['@mastra/pg@1.27.1', '@mastra/core@1.71.0', 'zod@4.6.7', 'pg-copy-streams@7.0.0'])
  : undefined;

try {
  await dropSchemas();
  await main();
} finally {
  await dropSchemas();
  await pool.end();
  anchors?.remove();
}

async function main() {
  const options = { PgVector, Pool, toSql, connectionString, pool, dimension };
  const quiver = await quiverSystem({ ...options, schema: 'quiver_bench' });
  const withFields = await quiverSystem({ ...options, schema: 'quiver_bench_fields', metadataIndexes: ['hundredth'] });
  const bare = bareSystem({ ...options, schema: 'quiver_bench' });
  // The same table as PgVector's, with the same index on the metadata field.
  const bareWithFields = bareSystem({ ...options, schema: 'quiver_bench_fields' });
  const mastra =
    anchors &&
    (await mastraSystem({ ...options, PgVector: (await anchors.load('@mastra/pg')).PgVector, schema: 'mastra_bench' }));
  const stores = [quiver, withFields, mastra].filter(Boolean);
  for (const store of stores) {
    await store.fill(vectors, metadataOf);
    await pool.query('VACUUM ANALYZE');
  }
  const cases = {
    'no filter': { filter: undefined },
    'filter, 10 % of the rows': { filter: { tenth: 3 } },
    'filter, 1 % of the rows': { filter: { hundredth: 3 } },
    'filter, 0.1 % of the rows': { filter: { thousandth: 3 } },
    'filter, 1 %, field indexed': { filter: { hundredth: 3 }, quiver: withFields, bare: bareWithFields },
    'all compared (exact)': { filter: undefined, exact: true },
  };
  const rows = [];
  for (const [name, { filter, exact, ...own }] of Object.entries(cases)) {
    const systems = { bare, quiver, ...own, ...(mastra && { mastra }) };
    rows.push([name, ...(await compare(name, systems, { filter, exact }))]);
  }
  const { fsync } = (await pool.query('SHOW fsync')).rows[0];
  print('milliseconds per query', rows, fsync);
  print('rows per second', await compareUpserts({ ...options, mastra }), fsync);
  console.log(await compareGraphs());
  for (const store of [...stores, bare, bareWithFields]) await store.close();
}

/** Measures the first graph query of a process, which builds the graph or reads it from the table that `derived.prepare()` creates. */
async function compareGraphs() {
  const { createGraphRAGTool } = await import('../../packages/rag/dist/index.js');
  const [schemaName, indexName, rows] = ['quiver_bench_graph', 'items', 3000];
  const store = new PgVector({ pool, schemaName });
  await store.createIndex({ indexName, dimension, buildIndex: false });
  for (let start = 0; start < rows; start += 1000) {
    const batch = vectors.slice(start, start + 1000);
    const documents = batch.map((_vector, place) => metadataOf(start + place).text);
    await store.upsert({
      indexName,
      ids: documents.map((_text, place) => String(start + place)),
      vectors: batch,
      documents,
    });
  }
  const model = { id: 'first', embed: async (texts) => texts.map(() => vectors[0]) };
  const ask = async () => {
    // Graphs are cached per store object, so each measurement uses a new store.
    const tool = createGraphRAGTool({ vectorStore: new PgVector({ pool, schemaName }), indexName, model });
    return (await timed(() => tool.execute({ queryText: 'topic', topK: 10 }))).elapsed;
  };
  const [built] = await inTurn([ask], 5, (run) => run());
  await store.derived.prepare();
  await ask();
  const [read] = await inTurn([ask], 5, (run) => run());
  record('pg/first graph query, derived data stored/time-to-building the graph/Quiver', ratiosOf(read, built));
  return `First graph query over ${rows} × ${dimension}: ${median(built).toFixed(0)} ms where the graph is built, ${median(read).toFixed(0)} ms where the table of derived data holds it.\n`;
}

async function compare(title, systems, { filter, exact }) {
  const times = Object.fromEntries(Object.keys(systems).map((name) => [name, []]));
  const recalls = structuredClone(times);
  for (const [round, question] of questions.entries()) {
    const best = new Set(await systems.bare.query(question, { filter, exact: true }));
    for (const name of rotate(Object.keys(systems), round)) {
      await emptyCaches();
      const { result: ids, elapsed } = await timed(() => systems[name].query(question, { filter, exact }));
      if (round < 5) continue;
      times[name].push(elapsed);
      recalls[name].push(ids.filter((id) => best.has(id)).length / best.size);
    }
  }
  record(`pg/${title}/time-to-bare SQL/Quiver`, ratiosOf(inFifths(times.quiver), inFifths(times.bare)));
  return Object.keys(systems).map((name) => {
    const ratio = median(ratiosOf(times[name], times.bare)).toFixed(2);
    return `${median(times[name]).toFixed(1)} (${ratio}×), recall ${mean(recalls[name]).toFixed(2)}`;
  });
}

/** Replaces the contents of the processor caches. Otherwise the first system would fill them for the next one, which reads the same rows. */
async function emptyCaches() {
  await pool.query(`SELECT count(*) FROM quiver_bench.items WHERE metadata -> 'nothing' IS NOT NULL`);
}

/** Measures upserts of a thousand rows at a time into empty tables, with and without a vector index. */
async function compareUpserts({ mastra, ...options }) {
  const rows = [];
  const copyFrom = anchors && (await anchors.load('pg-copy-streams')).from;
  for (const [name, batches, index] of [
    ['upsert, no index of the vectors', 1, 'flat'],
    ['upsert, HNSW', 2, 'hnsw'],
  ]) {
    const systems = {
      bare: bareSystem({ ...options, schema: 'quiver_bench_rows', table: `bare_${index}` }),
      quiver: await quiverSystem({ ...options, schema: 'quiver_bench_rows', indexName: `rows_${index}`, index }),
      ...(mastra && { mastra: await mastra.another(`rows_${index}`, index) }),
    };
    await systems.bare.create(index);
    if (copyFrom) systems['COPY BINARY'] = { ...systems.bare, upsert: systems.bare.copy(copyFrom) };
    const times = Object.fromEntries(Object.keys(systems).map((system) => [system, []]));
    for (let round = 0; round < 6; round += 1) {
      for (const system of rotate(Object.keys(systems), round)) {
        await systems[system].truncate();
        const { elapsed } = await timed(async () => {
          for (let batch = 0; batch < batches; batch += 1)
            await systems[system].upsert(vectors, metadataOf, batch * 1000, (batch + 1) * 1000);
        });
        if (round > 0) times[system].push((batches * 1_000_000) / elapsed);
      }
    }
    record(`pg/${name}/speed-to-bare SQL/Quiver`, ratiosOf(times.quiver, times.bare), 'most');
    const cell = (system) =>
      `${Math.round(median(times[system]))} (${withSpread(ratiosOf(times[system], times.bare))}×)`;
    rows.push([name, cell('bare'), cell('quiver'), ...(mastra ? [cell('mastra')] : [])]);
    if (copyFrom) rows.push([`${name}, COPY BINARY (insert only)`, cell('COPY BINARY'), '', '']);
    for (const system of ['bare', 'quiver']) await systems[system].close();
  }
  return rows;
}

function print(unit, rows, fsync) {
  const names = ['bare SQL', 'PgVector', ...(anchors ? ['@mastra/pg 1.27.1'] : [])];
  console.log(
    `${unit}; in brackets the ratio to bare SQL. ${rowCount} × ${dimension}, Node ${process.version}, fsync ${fsync}, load ${loadavg()[0].toFixed(1)}\n`,
  );
  console.log(`${table(['', ...names], rows)}\n`);
}

function rotate(names, round) {
  const start = round % names.length;
  return [...names.slice(start), ...names.slice(0, start)];
}

/** Sums of each fifth of the rounds: a single query is too short for a ratio. */
function inFifths(times) {
  return [0, 1, 2, 3, 4].map((fifth) => {
    const own = times.slice((fifth * times.length) / 5, ((fifth + 1) * times.length) / 5);
    return mean(own);
  });
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
