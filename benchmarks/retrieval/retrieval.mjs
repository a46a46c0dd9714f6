// Speed of LocalVector, sqlite-vec and SQLite FTS5 and, with --with-anchors, of other embedded engines:
//   node retrieval/retrieval.mjs [--with-anchors] [--rounds 7] [--queries 20] [--vectors 100000] [--dimension 384] [--texts 20000]
// Every vector engine runs in a separate process. Every round sends the same queries to every engine in turn; the tables show the median
// of the ratios within a round.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fts5 from './anchors/fts5.mjs';
import { createTexts, createVectors, nearestByHand } from './data.mjs';
import { installAnchors } from './install-anchors.mjs';
import { openKeywordSearch } from './quiver.mjs';
import { startEngine } from './start-engine.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const values = readFlags({
  'with-anchors': { type: 'boolean', default: false },
  rounds: { type: 'string', default: '7' },
  queries: { type: 'string', default: '20' },
  vectors: { type: 'string', default: '100000' },
  dimension: { type: 'string', default: '384' },
  texts: { type: 'string', default: '20000' },
});
const rounds = Number(values.rounds);
const questions = Number(values.queries);
const topK = 10;
const anchors = values['with-anchors'] ? await installAnchors() : undefined;
const scratch = mkdtempSync(join(tmpdir(), 'quiver-retrieval-'));
const urlOf = (file) => new URL(file, import.meta.url).href;
try {
  await measureVectors([urlOf('quiver.mjs'), urlOf('anchors/sqlite-vec.mjs'), ...(anchors?.vectorEngines ?? [])]);
  await measureWords([
    { name: '**Quiver** LocalVector, BM25', open: openKeywordSearch },
    fts5,
    ...(anchors?.wordEngines ?? []),
  ]);
  console.log(`\nLoad of the machine: ${loadavg()[0].toFixed(1)}; Node ${process.versions.node}.`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
  anchors?.remove();
}
// Some engines keep threads running, which would prevent the exit.
process.exit(0);

async function measureVectors(files) {
  const { vectors, queries } = createVectors(Number(values.vectors), Number(values.dimension), questions);
  const cases = { 'top 10': undefined, 'top 10, filter that 1 % pass': 7 };
  const engines = [];
  for (const file of files) {
    const folder = mkdtempSync(join(scratch, 'store-'));
    const { run, stop } = startEngine(file, values.vectors, values.dimension, questions);
    engines.push({ name: await run('name'), filled: await run('fill', { folder }), folder, run, stop });
  }
  const opened = await inTurn(engines, rounds, async ({ run, folder }) => {
    const open = await run('open', { folder });
    return { open, first: await run('first', { topK }) };
  });
  const firsts = opened.map((results) => results.map(({ open, first }) => open + first));
  record('retrieval/open and first vector query/time-to-sqlite-vec/Quiver LocalVector', ratiosOf(firsts[0], firsts[1]));
  console.log(
    `${vectors.length} × ${values.dimension}, cosine, median of ${rounds} rounds of ${queries.length} queries\n`,
  );
  const rows = [];
  for (const [index, { name, filled, run }] of engines.entries()) {
    const of = (key) => ms(median(opened[index].map((result) => result[key])));
    const memory = Math.round((await run('memory')) / 1e6);
    rows.push([
      name,
      filled.toFixed(2),
      of('open'),
      of('first'),
      withSpread(ratiosOf(firsts[index], firsts[0]), 1),
      memory,
    ]);
  }
  console.log(table(['', 'write s', 'open again ms', 'first query ms', 'both, × Quiver', 'process MB'], rows));
  for (const [name, part] of Object.entries(cases)) {
    const expected = queries.map((query) => nearestByHand(vectors, query, topK, part));
    const asked = await inTurn(engines, rounds + 1, ({ run }) => run('ask', { topK, part }));
    // Round 0 warms up.
    const times = asked.map((results) => results.slice(1).map((result) => median(result.times)));
    record(`retrieval/${name}/time-to-sqlite-vec/Quiver LocalVector`, ratiosOf(times[0], times[1]));
    const cells = engines.map((engine, index) => {
      const { found } = asked[index][0];
      const hits = found.flatMap((own, number) => own.filter((row) => expected[number].includes(row)));
      return [
        engine.name,
        ms(median(times[index])),
        withSpread(ratiosOf(times[index], times[0]), 1),
        ms(Math.min(...asked[index].flatMap((result) => result.times))),
        (hits.length / (queries.length * topK)).toFixed(3),
      ];
    });
    console.log(`\n${table([name, 'p50 ms', '× Quiver', 'fastest ms', 'recall@10'], cells)}`);
  }
  for (const { stop } of engines) await stop();
}

async function measureWords(systems) {
  const { texts, questions: byFrequency } = createTexts(Number(values.texts), 20);
  const opened = [];
  for (const { name, open } of systems) opened.push({ name, ...(await open(texts)) });
  console.log(`\n${texts.length} texts of 40 to 80 words, ${byFrequency.mixed.length} queries of four words each\n`);
  console.log(
    table(
      ['', 'index s'],
      opened.map(({ name, seconds }) => [name, seconds.toFixed(2)]),
    ),
  );
  for (const [frequency, queries] of Object.entries(byFrequency)) {
    const measured = await inTurn(opened, rounds + 1, async ({ search }) => {
      const each = [];
      for (const query of queries) each.push((await timed(() => search(query, topK))).elapsed);
      return median(each);
    });
    // Round 0 warms up.
    const times = measured.map((own) => own.slice(1));
    record(`retrieval/keyword query, ${frequency} words/time-to-FTS5/Quiver LocalVector`, ratiosOf(times[0], times[1]));
    const cells = opened.map(({ name }, index) => [
      name,
      (median(times[index]) * 1000).toFixed(0),
      withSpread(ratiosOf(times[index], times[0]), 1),
    ]);
    console.log(`\n${table([`any of the words, top 10: ${frequency} words`, 'p50 µs', '× Quiver'], cells)}`);
  }
}

function ms(time) {
  return (time * 1000).toFixed(time < 0.01 ? 2 : 0);
}
