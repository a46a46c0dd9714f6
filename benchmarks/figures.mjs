/** The factor by which a figure without a spread may differ from the stored one. */
const tolerance = 1.15;

/**
 * Compares figures with the stored ones. A figure moved when the spreads of both do not overlap; one without rounds, when it differs by more
 * than 15 %.
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

function spreadOf({ value, spread = [value / Math.sqrt(tolerance), value * Math.sqrt(tolerance)] }) {
  return spread;
}

/** Returns a Markdown table of compared figures. */
export function comparisonTable(rows) {
  const lines = rows.map(
    ({ name, figure, stored, outcome }) =>
      `| ${name} | ${toText(figure)} | ${stored ? toText(stored) : '–'} | ${outcome} |`,
  );
  return ['| figure | now (spread) | stored (spread) | |', '|---|---|---|---|', ...lines].join('\n');
}

function toText({ value, spread }) {
  const digits = (number) => Number(number.toPrecision(3));
  return spread ? `${digits(value)} (${spread.map(digits).join('–')})` : String(digits(value));
}

/** @returns the stored figures with the measured ones in their place, sorted by name, with four significant digits */
export function mergeFigures(known, measured) {
  const round = (value) => Number(value.toPrecision(4));
  const rounded = Object.entries(measured).map(([name, { value, spread, best }]) => [
    name,
    { value: round(value), ...(spread && { spread: spread.map(round) }), best },
  ]);
  const all = Object.entries({ ...known, ...Object.fromEntries(rounded) });
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Replaces the text between `<!-- bench: name -->` and `<!-- end -->` in a page; a page without them is unchanged. */
export function replaceRegion(text, name, output) {
  const start = `<!-- bench: ${name} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf('<!-- end -->', from);
  if (from === -1 || to === -1) return text;
  return `${text.slice(0, from + start.length)}\n\n${output.trim()}\n\n${text.slice(to)}`;
}
