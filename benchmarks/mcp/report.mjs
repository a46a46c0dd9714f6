import { table as markdown } from '../statistics.mjs';
import { names } from './systems.mjs';

/** Returns a Markdown table with one row per system. */
export function table(columns, rows) {
  return markdown(
    ['', ...columns],
    [...rows].map(([name, cells]) => [names[name] ?? name, ...cells]),
  );
}
