import { appendFileSync } from 'node:fs';

/**
 * Records a figure for `npm run bench`, which writes it to figures.json. Does nothing when a program runs alone.
 *
 * @param name - what is measured and the system, such as `server/sessions/echo@16/cpu-to-sdk1/Quiver`
 * @param best - whether less or more is better
 */
export function record(name, value, best = 'least') {
  const file = process.env.BENCH_FIGURES;
  const plain = name.replaceAll(/[*`]/g, '');
  if (file && Number.isFinite(value)) appendFileSync(file, `${JSON.stringify({ name: plain, value, best })}\n`);
}
