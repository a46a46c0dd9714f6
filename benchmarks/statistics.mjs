/** Returns the middle value, and the mean of the two in the middle of an even number. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the ratio of each round: what slows a machine for a while slows both systems of a round. */
export function ratiosOf(values, base) {
  return values.map((value, round) => value / base[round]);
}

/** Returns the median of the ratios within each round. */
export function ratioOf(values, base) {
  return median(ratiosOf(values, base));
}
