/** The factor by which a figure may be worse than the stored one: shared machines differ by a few percent from run to run. */
const tolerance = 1.15;

/** @returns a sentence for each figure of Quiver that is more than 15 % worse than the stored one */
export function findWorse(known, measured) {
  return Object.entries(measured).flatMap(([name, { value, best }]) => {
    const before = known[name]?.value;
    if (before === undefined || !name.includes('Quiver')) return [];
    const isWorse = best === 'least' ? value > before * tolerance : value < before / tolerance;
    return isWorse ? [`${name} is ${value}, stored ${before} (the ${best} is best)`] : [];
  });
}

/** @returns the stored figures with the measured ones in their place, sorted by name, with four significant digits */
export function mergeFigures(known, measured) {
  const rounded = Object.entries(measured).map(([name, { value, best }]) => [
    name,
    { value: Number(value.toPrecision(4)), best },
  ]);
  const all = Object.entries({ ...known, ...Object.fromEntries(rounded) });
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Replaces what stands between `<!-- bench: name -->` and `<!-- end -->` in a page; a page without them stays as it is. */
export function replaceRegion(text, name, output) {
  const start = `<!-- bench: ${name} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf('<!-- end -->', from);
  if (from === -1 || to === -1) return text;
  return `${text.slice(0, from + start.length)}\n\n${output.trim()}\n\n${text.slice(to)}`;
}
