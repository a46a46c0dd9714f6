// Speed of LocalVector and, with --with-anchors, of other embedded engines:
//   node retrieval/retrieval.mjs [--with-anchors] [--rounds 7] [--vectors 100000] [--dimension 384] [--texts 20000]
// Every vector engine runs in a separate process. Every round sends the same queries to every engine in turn; the tables show the median
// of the ratios within a round.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTexts, createVectors, nearestByHand } from './data.mjs';
import { installAnchors } from './install-anchors.mjs';
import { openKeywordSearch } from './quiver.mjs';
import { startEngine } from './start-engine.mjs';
import { readFlags } from '../read-flags.mjs';
import { median } from '../statistics.mjs';

const values = readFlags({
  'with-anchors': { type: 'boolean', default: false },
  rounds: { type: 'string', default: '7' },
  vectors: { type: 'string', default: '100000' },
  dimension: { type: 'string', default: '384' },
  texts: { type: 'string', default: '20000' },
});
const rounds = Number(values.rounds);
const topK = 10;
const anchors = values['with-anchors'] ? await installAnchors() : undefined;
if (!anchors) console.log('Only Quiver is measured. --with-anchors installs the other engines (about 600 MB) first.\n');
const scratch = mkdtempSync(join(tmpdir(), 'quiver-retrieval-'));
try {
  await measureVectors([new URL('quiver.mjs', import.meta.url).href, ...(anchors?.vectorEngines ?? [])]);
  await measureWords([
    { name: '**Quiver** LocalVector, BM25', open: openKeywordSearch },
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
  const questions = 20;
  const { vectors, queries } = createVectors(Number(values.vectors), Number(values.dimension), questions);
  const cases = { 'top 10': undefined, 'top 10, filter that 1 % pass': 7 };
  const expected = Object.fromEntries(
    Object.entries(cases).map(([name, part]) => [
      name,
      queries.map((query) => nearestByHand(vectors, query, topK, part)),
    ]),
  );
  const opened = [];
  for (const file of files) {
    const folder = mkdtempSync(join(scratch, 'store-'));
    const { run, stop } = startEngine(file, values.vectors, values.dimension, questions);
    const filled = await run('fill', { folder });
    const opening = [];
    for (let round = 0; round < 5; round += 1) opening.push(await run('open', { folder }));
    const first = await run('first', { topK });
    opened.push({ name: await run('name'), run, stop, filled, opening: median(opening), first });
  }
  const memory = [];
  for (const { run } of opened) memory.push(await run('memory'));
  console.log(
    `${vectors.length} × ${values.dimension}, cosine, median of ${rounds} rounds of ${queries.length} queries\n`,
  );
  printTable(
    ['', 'write s', 'open again ms', 'first query ms', 'process MB'],
    opened.map(({ name, filled, opening, first }, place) => [
      name,
      filled.toFixed(2),
      ms(opening),
      ms(first),
      Math.round(memory[place] / 1e6),
    ]),
  );
  for (const [name, part] of Object.entries(cases)) {
    const medians = opened.map(() => []);
    const hits = opened.map(() => 0);
    const fastest = opened.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [place, { run }] of opened.entries()) {
        const { times, found } = await run('ask', { topK, part });
        if (round === 0) {
          for (const [number, rows] of found.entries())
            hits[place] += rows.filter((row) => expected[name][number].includes(row)).length;
        }
        // Round 0 warms up.
        if (round > 0) medians[place].push(median(times));
        fastest[place] = Math.min(fastest[place], ...times);
      }
    }
    console.log('');
    printTable(
      [name, 'p50 ms', '× Quiver', 'fastest ms', 'recall@10'],
      opened.map((engine, place) => [
        engine.name,
        ms(median(medians[place])),
        median(medians[place].map((time, round) => time / medians[0][round])).toFixed(1),
        ms(fastest[place]),
        (hits[place] / (queries.length * topK)).toFixed(3),
      ]),
    );
  }
  for (const { stop } of opened) await stop();
}

async function measureWords(systems) {
  const { texts, questions } = createTexts(Number(values.texts), 20);
  const opened = [];
  for (const { name, open } of systems) opened.push({ name, ...(await open(texts)) });
  console.log(`\n${texts.length} texts of 40 to 80 words, ${questions.mixed.length} queries of four words each\n`);
  printTable(
    ['', 'index s'],
    opened.map(({ name, seconds: indexing }) => [name, indexing.toFixed(2)]),
  );
  for (const [frequency, queries] of Object.entries(questions)) {
    const times = opened.map(() => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [place, { search }] of opened.entries()) {
        const each = [];
        for (const query of queries) each.push(await seconds(() => search(query, topK)));
        // Round 0 warms up.
        if (round > 0) times[place].push(median(each));
      }
    }
    console.log('');
    printTable(
      [`any of the words, top 10: ${frequency} words`, 'p50 µs', '× Quiver'],
      opened.map(({ name }, place) => [
        name,
        (median(times[place]) * 1e6).toFixed(0),
        median(times[place].map((time, round) => time / times[0][round])).toFixed(1),
      ]),
    );
  }
}

async function seconds(work) {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

function ms(time) {
  return (time * 1000).toFixed(time < 0.01 ? 2 : 0);
}

function printTable(head, rows) {
  const toLine = (cells) => `| ${cells.join(' | ')} |`;
  console.log([toLine(head), toLine(head.map(() => '---')), ...rows.map(toLine)].join('\n'));
}
