// The tables of the benchmark, as Markdown.
import { table } from '../statistics.mjs';
import { metrics } from './measure.mjs';

const toFigure = (value) => (value === undefined ? '–' : value.toFixed(3).replace(/^0/, ''));
const toShare = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

function printTable(header, rows) {
  console.log(`\n${table(header, rows)}\n`);
}

/** Flaws of chunks, as counts and shares. */
export function printChunks(count, flaws) {
  printTable(
    ['chunks', ...Object.keys(flaws)],
    [[count, ...Object.values(flaws).map((flaw) => `${flaw} (${toShare(flaw, count)})`)]],
  );
}

/** Figures of the systems on one half: all questions, then hit@3 and MRR by format. */
export function printHalf(half, measured, lost) {
  const systems = Object.entries(measured);
  const questions = systems[0]?.[1].questions ?? 0;
  console.log(`The ${half} half: ${questions} questions; no single chunk contains the answer of ${lost}`);
  printTable(
    [
      'system',
      ...Object.keys(metrics),
      'hit@3 from – to',
      'hit@3 reworded',
      'junk in 3',
      'characters of 3',
      'AUC',
      'ms',
    ],
    systems.map(([name, { figures, interval, reworded, junk, characters, separation, milliseconds }]) => [
      name,
      ...Object.values(figures).map(toFigure),
      `${toFigure(interval.low)} – ${toFigure(interval.high)}`,
      toFigure(reworded['hit@3']),
      toShare(junk, 1),
      characters,
      toFigure(separation),
      milliseconds.toFixed(0),
    ]),
  );
  printTable(
    ['first passage with', ...systems.map(([name]) => `${name}: answerable · unanswerable · relevant`)],
    (systems[0]?.[1].thresholds ?? []).map(({ least }, index) => [
      `confidence ≥ ${least}`,
      ...systems.map(([, { thresholds }]) => {
        const { answerable, unanswerable, relevant } = thresholds[index];
        return [answerable, unanswerable, relevant].map(toFigure).join(' · ');
      }),
    ]),
  );
  const formats = systems[0]?.[1].formats ?? {};
  printTable(
    ['format', 'questions', ...systems.map(([name]) => `${name}: ${Object.keys(metrics).join(' · ')}`)],
    Object.entries(formats).map(([format, { questions: count }]) => [
      format,
      count,
      ...systems.map(([, { formats: own }]) =>
        Object.keys(metrics)
          .map((metric) => toFigure(own[format][metric]))
          .join(' · '),
      ),
    ]),
  );
}

const shown = 3;

/** Questions of the visible half without an answer among the first three, with what was found instead. */
export function printMisses(measured, lost) {
  const isLost = new Set(lost.map(({ question }) => question));
  for (const [mode, { asked }] of Object.entries(measured)) {
    for (const { question, answers, rank, results } of asked) {
      if (answers.length === 0 || (rank > 0 && rank <= shown)) continue;
      const [{ source, quote, row }] = answers;
      const outcome = rank > 0 ? `place ${rank}` : isLost.has(question) ? 'in no chunk' : 'not found';
      console.log(`\n${mode}, ${outcome}: ${question}`);
      console.log(`  wanted: ${source}: ${quote ?? row.join(' | ')}`);
      for (const result of results.slice(0, shown)) {
        const text = result.text.replaceAll(/\s+/g, ' ').slice(0, 160);
        console.log(`  ${result.score.toFixed(2)} ${result.source}: ${text}`);
      }
    }
  }
}
