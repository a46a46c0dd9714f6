// Figures of one system over the questions of one half.
import { bootstrapMean, hitRateAt, mrrAt, separation } from '@quiver/rag/evaluate';
import { kindOfJunk } from './junk.mjs';
import { containsAnswer } from './match.mjs';

export const metrics = {
  'hit@1': (ranking) => hitRateAt(ranking, 1),
  'hit@3': (ranking) => hitRateAt(ranking, 3),
  'hit@5': (ranking) => hitRateAt(ranking, 5),
  MRR: (ranking) => mrrAt(ranking, 10),
};

/** Results read for each question: 10 for the metrics, and the others to tell how far a missed answer is. */
const depth = 50;
const shown = 3;
/** Confidences of the first passage below which a program says that nothing was found. */
const thresholds = [0.1, 0.3, 0.5, 0.7, 0.9];

/**
 * @param system - `{ name, search }`; `search` returns `{ text, source, sources?, score }`, best first
 * @param cases - questions; those without answers count for the separation only
 * @param formatOf - format of each document
 * @returns figures of all questions and of each format, the separation, the share of junk, and what each question found
 */
export async function measure({ search }, cases, formatOf) {
  const asked = [];
  for (const one of cases) {
    const start = performance.now();
    const results = await search(one.question, depth);
    const milliseconds = performance.now() - start;
    asked.push({ ...one, ...judge(one, results), results, score: results[0]?.score ?? 0, milliseconds });
  }
  const answerable = asked.filter(({ answers }) => answers.length > 0);
  const formats = Map.groupBy(answerable, ({ answers: [{ source }] }) => formatOf.get(source));
  const places = asked.flatMap(({ results }) => findJunk(results.slice(0, shown)));
  const unanswerable = asked.filter(({ answers }) => answers.length === 0);
  return {
    questions: answerable.length,
    figures: average(answerable),
    interval: bootstrapMean(answerable.map(({ ranking }) => metrics['hit@3'](ranking))),
    reworded: average(answerable.filter(({ isReworded }) => isReworded)),
    formats: Object.fromEntries(
      [...formats].map(([format, own]) => [format, { questions: own.length, ...average(own) }]),
    ),
    junk: places.filter(Boolean).length / Math.max(1, places.length),
    junkKinds: countBy(places.filter(Boolean)),
    characters: median(
      asked.map(({ results }) => results.slice(0, shown).reduce((sum, { text }) => sum + text.length, 0)),
    ),
    separation: separate(scoresOf(answerable), scoresOf(unanswerable)),
    thresholds: thresholds.map((least) => ({
      least,
      answerable: shareOf(answerable, ({ score }) => score >= least),
      unanswerable: shareOf(unanswerable, ({ score }) => score >= least),
      // Share of the first passages that a program would show.
      relevant: shareOf(
        asked.filter(({ score }) => score >= least),
        ({ rank }) => rank === 1,
      ),
    })),
    milliseconds: median(asked.map((one) => one.milliseconds)),
    asked,
  };
}

/** Returns the questions whose answers no single chunk contains: reading lost them, or a cut divides them. */
export function findLost(cases, chunks) {
  const bySource = new Map();
  for (const chunk of chunks) {
    for (const source of chunk.sources ?? [chunk.source]) {
      const name = source.split('#', 1)[0];
      if (!bySource.get(name)?.push(chunk)) bySource.set(name, [chunk]);
    }
  }
  return cases.filter(({ answers }) => {
    const isIn = (answer) => bySource.get(answer.source)?.some((chunk) => isAnswered([answer], chunk)) ?? false;
    return answers.length > 0 && !answers.some(isIn);
  });
}

const shareOf = (asked, test) => asked.filter(test).length / Math.max(1, asked.length);

/** A run over some formats may lack one kind of questions. */
const separate = (some, others) => (some.length > 0 && others.length > 0 ? separation(some, others) : undefined);

const scoresOf = (asked) => asked.map(({ score }) => score);

/** A question has one target: any of its answers. */
function judge({ answers }, results) {
  const relevant = results.map((result) => isAnswered(answers, result));
  const first = relevant.indexOf(true);
  const found = results.map((_, index) => (index === first ? [0] : []));
  return { rank: first + 1, ranking: { found, relevant, gains: [1] } };
}

function isAnswered(answers, { text, source, sources = [source] }) {
  return answers.some((answer) => containsAnswer({ text, sources }, answer));
}

function average(asked) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return Object.fromEntries(
    Object.entries(metrics).map(([name, metric]) => [name, mean(asked.map(({ ranking }) => metric(ranking)))]),
  );
}

/** Returns the kind of junk at each place, or `undefined` for a passage with content. */
export function findJunk(results) {
  const texts = results.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim());
  return results.map(({ text, source }, index) =>
    texts.indexOf(texts[index]) < index ? 'duplicate' : kindOfJunk(text, source),
  );
}

function countBy(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
