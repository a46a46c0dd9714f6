// The questions and the two halves of the documents.
import { readFileSync } from 'node:fs';
import { corpus, filesOf } from './corpus.mjs';

export const halves = ['visible', 'held-out'];

/**
 * Returns the half of each document. Within a format, documents alternate in the order of the corpus, so both halves have every format,
 * and every package with several files. Settings are chosen on the visible half. Developers do not read cases or results of the held-out half.
 */
export function readHalves() {
  const counts = new Map();
  const files = corpus.flatMap(filesOf);
  return new Map(
    files.map(({ source, format }) => {
      const count = counts.get(format) ?? 0;
      counts.set(format, count + 1);
      return [source, halves[count % 2]];
    }),
  );
}

/**
 * Returns the cases of a half: `{ question, answers, isReworded }`. The passages that contain any of `answers` answer the question;
 * without answers, no document does. `isReworded` marks questions in other words than the text.
 */
export function readCases(half) {
  return JSON.parse(readFileSync(new URL(`cases/${half}.json`, import.meta.url), 'utf8'));
}
