import { appendFileSync } from 'node:fs';
import { median } from './statistics.mjs';

/**
 * Records a figure for `npm run bench`, which writes it to figures.json. Does nothing when a program runs alone.
 *
 * @param name - what is measured and the system, such as `server/sessions/echo@16/cpu-to-sdk1/Quiver`
 * @param measured - one value, or those of all rounds: the figure is their median, with the least and the largest as its spread
 * @param best - whether less or more is better
 */
export function record(name, measured, best = 'least') {
  const file = process.env.BENCH_FIGURES;
  const rounds = [measured].flat().filter(Number.isFinite);
  if (!file || rounds.length === 0) return;
  const value = median(rounds);
  const spread = rounds.length > 1 ? { spread: [Math.min(...rounds), Math.max(...rounds)] } : {};
  appendFileSync(file, `${JSON.stringify({ name: name.replaceAll(/[*`]/g, ''), value, ...spread, best })}\n`);
}
