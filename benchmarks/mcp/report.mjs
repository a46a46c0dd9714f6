import { names } from './systems.mjs';

/** Returns a Markdown table with one row per system. */
export function table(columns, rows) {
  const lines = [...rows].map(([name, cells]) => `| ${names[name] ?? name} | ${cells.join(' | ')} |`);
  return [`| | ${columns.join(' | ')} |`, `|${' --- |'.repeat(columns.length + 1)}`, ...lines].join('\n');
}
