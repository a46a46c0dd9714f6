import { names } from './mcp/systems.mjs';
import { table } from './statistics.mjs';

/** The factors by which a figure may differ from the stored one: with rounds, beyond which the spread decides, and without. */
const tolerances = { withRounds: 1.05, alone: 1.15 };

/**
 * Compares figures with the stored ones. A figure moved when it differs by more than 5 % and the spreads of both do not overlap; one without
 * rounds, when it differs by more than 15 %.
 *
 * @returns a row for each figure of Quiver that was measured, with the outcome `better`, `worse`, `same` or `new`
 */
export function compareFigures(known, measured) {
  return Object.entries(measured)
    .filter(([name]) => name.includes('Quiver'))
    .map(([name, figure]) => {
      const stored = known[name];
      return { name, figure, stored, outcome: stored ? outcomeOf(figure, stored) : 'new' };
    });
}

function outcomeOf(figure, stored) {
  const [least, most] = spreadOf(figure);
  const [storedLeast, storedMost] = spreadOf(stored);
  if (least <= storedMost && storedLeast <= most) return 'same';
  return figure.value < stored.value === (stored.best === 'least') ? 'better' : 'worse';
}

function spreadOf({ value, spread }) {
  const factor = Math.sqrt(spread ? tolerances.withRounds : tolerances.alone);
  const [least, most] = spread ?? [value, value];
  return [Math.min(least, value / factor), Math.max(most, value * factor)];
}

/** Returns a Markdown table of compared figures. */
export function comparisonTable(rows) {
  return table(
    ['figure', 'now (spread)', 'stored (spread)', ''],
    rows.map(({ name, figure, stored, outcome }) => [name, toText(figure), stored ? toText(stored) : '–', outcome]),
  );
}

function toText({ value, spread }) {
  return spread ? `${toDigits(value)} (${toRange(spread)})` : toDigits(value);
}

const toDigits = (number) => String(Number(number.toPrecision(3)));
const toRange = (spread) => spread.map(toDigits).join('–');

/** Goals of the project, by figure. The pages say which goal was not reached. */
const goals = {
  'server/operation/cpu-to-startHTTP/Quiver, JWT (ES256)': 1.3,
  'server/operation/cpu-to-startHTTP/Quiver, static token': 1.3,
  'server/stateless/echo@16/cpu-to-bare/Quiver': 1.35,
  'server/modern/echo@16/cpu-to-bare/Quiver': 1.35,
  'server/stdio/cold-start-to-sdk1/Quiver': 0.6,
  'client/With a custom fetch/1 in flight/cpu-to-sdk1/Quiver': 0.6,
  'client/With a custom fetch/16 in flight/cpu-to-sdk1/Quiver': 0.6,
  'client/Memory/tools held/heap-to-sdk1/Quiver': 0.8,
  'reopened/first query-to-a later one/Quiver, keyword': 20,
  'reopened/first query-to-a later one/Quiver, keyword, new process': 20,
};

/** Returns a Markdown table of the figures of Quiver that are ratios, which `<measure>-to-<base>` in their names says. */
export function ratiosTable(figures) {
  const rows = Object.entries(figures).flatMap(([name, { value, spread, best }]) => {
    const [, path, measure, base, variant] = /^(.+)\/([^/]+)-to-([^/]+)\/Quiver(?:, )?(.*)$/.exec(name) ?? [];
    if (path === undefined) return [];
    const goal = goals[name];
    const isReached = best === 'most' ? value >= goal : value <= goal;
    const what = [...path.split('/'), variant].filter(Boolean).join(', ');
    const outcome = goal === undefined ? '' : `${goal}${isReached ? '' : ', not reached'}`;
    return [
      [
        what,
        measure.replace('cpu', 'CPU'),
        names[base] ?? base,
        toDigits(value),
        spread ? toRange(spread) : '',
        outcome,
      ],
    ];
  });
  return table(['of Quiver', 'ratio of', 'to', 'median', 'spread', 'goal'], rows);
}

/** @returns the measured figures, and the stored ones of other parts, sorted by name, with four significant digits */
export function mergeFigures(known, measured) {
  const round = (value) => Number(value.toPrecision(4));
  const partOf = (name) => name.split('/')[0];
  const parts = new Set(Object.keys(measured).map(partOf));
  const kept = Object.entries(known).filter(([name]) => !parts.has(partOf(name)));
  const rounded = Object.entries(measured).map(([name, { value, spread, best }]) => [
    name,
    { value: round(value), ...(spread && { spread: spread.map(round) }), best },
  ]);
  return Object.fromEntries([...kept, ...rounded].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Replaces the text between `<!-- bench: name -->` and `<!-- end -->` in a page; a page without them is unchanged. */
export function replaceRegion(text, name, output) {
  const start = `<!-- bench: ${name} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf('<!-- end -->', from);
  if (from === -1 || to === -1) return text;
  return `${text.slice(0, from + start.length)}\n\n${output.trim()}\n\n${text.slice(to)}`;
}
