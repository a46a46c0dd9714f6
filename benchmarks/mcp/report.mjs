import { names } from './systems.mjs';

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the median of the ratios within each round. */
export function ratioOf(values, base) {
  return median(values.map((value, round) => value / base[round]));
}

/** Returns a Markdown table with one row per system. */
export function table(columns, rows) {
  const lines = [...rows].map(([name, cells]) => `| ${names[name] ?? name} | ${cells.join(' | ')} |`);
  return [`| | ${columns.join(' | ')} |`, `|${' --- |'.repeat(columns.length + 1)}`, ...lines].join('\n');
}
