// Confidence of hybrid search: whether it separates found answers from questions without an answer, with embedders of different quality, over the
// documents of the field benchmark:
//   node scripts/bootstrap.mjs run-built benchmarks/field/confidence.mjs [--data DIR] [--encoder] [--seeds 3]
// With --data, the questions of the test collections count as questions without an answer; with --encoder, also the encoder of the guide.
import { retrieve } from '@quiver/rag';
import { separation } from '@quiver/rag/evaluate';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { defaultCache } from './documents.mjs';
import { encoderRun, fillStore, indexName, plantedRun, readField } from './embedder-runs.mjs';
import { halves } from './halves.mjs';
import { readTestCollections } from '../../packages/rag/src/search/test-collection.fixture.ts';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  data: { type: 'string', default: process.env.QUIVER_DATA },
  seeds: { type: 'string', default: '3' },
  encoder: { type: 'boolean', default: false },
});
/** Questions of each test collection. */
const casesOfCollection = 30;
/** An answer among the first three passages is found. */
const shown = 3;
/** A confidence below it says that the documents do not answer. */
const threshold = 0.5;

const field = await readField(flags.cache);
const foreign = readTestCollections(flags.data, casesOfCollection).collections.flatMap(({ cases }) => cases);
const unanswerable = [
  ...field.unanswerable,
  ...foreign.map(({ question }, at) => ({ question, half: halves[at % halves.length] })),
];
const nonsense = writeNonsense(20);

console.log(
  `\n${field.cases.length} questions, ${unanswerable.length} without an answer, ${nonsense.length} of nonsense; rejected: found answers in other words below ${threshold}\n`,
);
const columns = ['half', 'AUC', 'rejected', 'without an answer from .5', 'nonsense from .5', 'most of nonsense'];
console.log(toLine(['embedder', ...columns]));
console.log(toLine(['---', ...columns.map(() => '---')]));
for (const [name, runs] of [
  ['planted, 0.9', Array.from({ length: Number(flags.seeds) }, (_, seed) => plantedRun(field, 0.9, seed + 1))],
  ['planted, 0', Array.from({ length: Number(flags.seeds) }, (_, seed) => plantedRun(field, 0, seed + 1))],
  ...(flags.encoder ? [['`@energetic-ai`', [await encoderRun(field, flags.cache)]]] : []),
]) {
  const asked = { words: [], vectors: [] };
  for (const { embedder, vectors } of runs) {
    const store = await fillStore(field, await vectors());
    asked.words.push(await askAll(store, { ...embedder, hybridWeight: 0 }));
    asked.vectors.push(await askAll(store, embedder));
  }
  for (const half of halves) {
    printRow(`${name}, words alone`, half, asked.words);
    printRow(name, half, asked.vectors);
  }
}
process.exit(0);

function toLine(cells) {
  return `| ${cells.join(' | ')} |`;
}

/** Returns the confidence of each found answer, and the largest one of each other question. */
async function askAll(store, model) {
  const search = async (question) => {
    const options = { vectorStore: store, indexName, model, mode: 'hybrid', fusion: { vector: 1 } };
    return (await retrieve({ ...options, question })).matches;
  };
  const largest = async (one) => {
    const matches = await search(one.question);
    return { ...one, confidence: Math.max(0, ...matches.map(({ confidence }) => confidence)) };
  };
  const found = [];
  for (const one of field.cases) {
    const matches = (await search(one.question)).slice(0, shown);
    const isRight = ({ id, metadata: { alsoIn = [] } }) =>
      [id, ...alsoIn.map((place) => place.id)].some((own) => one.relevant.includes(own));
    const right = matches.find(isRight);
    if (right) found.push({ ...one, confidence: right.confidence });
  }
  const others = [];
  for (const one of unanswerable) others.push(await largest(one));
  const invented = [];
  for (const question of nonsense) invented.push(await largest({ question }));
  return { found, others, invented };
}

function printRow(name, half, runs) {
  const ofHalf = (key) => runs.flatMap((run) => run[key]).filter((one) => one.half === half);
  const [found, others, invented] = [ofHalf('found'), ofHalf('others'), runs.flatMap((run) => run.invented)];
  const reworded = found.filter(({ isReworded }) => isReworded);
  const auc = separation(
    found.map(({ confidence }) => confidence),
    others.map(({ confidence }) => confidence),
  );
  const isAccepted = ({ confidence }) => confidence >= threshold;
  const countOf = (own, test) => `${own.filter(test).length}/${own.length}`;
  const most = Math.max(...invented.map(({ confidence }) => confidence));
  console.log(
    toLine([
      name,
      half,
      auc.toFixed(3),
      countOf(reworded, (one) => !isAccepted(one)),
      countOf(others, isAccepted),
      countOf(invented, isAccepted),
      most.toFixed(3),
    ]),
  );
}

/** Questions of invented words. */
function writeNonsense(count) {
  const random = createRandom(11);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const word = () => Array.from({ length: 3 }, () => pick('bdfgklmnprstvz') + pick('aeiou')).join('');
  return Array.from({ length: count }, () => `Why does the ${word()} ${word()} a ${word()}?`);
}
