/** The number of largest size in a row becomes this integer. */
const largestRowCode = 119;

/** How far a 32-bit sum or product may lie from the true one, as a share of it. */
const roundoff = 2 ** -24;

export interface RowBounds {
  /** Size of one integer step. */
  readonly scale: number;
  /** Length of the row at most. */
  readonly length: number;
  /** Upper bound of the length of the rounding error. */
  readonly lost: number;
  /** Upper bound of the length of the error of the high halves. */
  readonly lostWithoutLow: number;
}

/**
 * Returns bounds of a row from sums in 32-bit floats. They are in steps: number `x` is `t = x · inverse` of them, of which
 * the kernel knows `u`, rounded to 32 bits, and its integer `c`.
 *
 * - `|t| ≤ 119`, so `|u − t| ≤ 119 · 2⁻²⁴`, and all `n` together are off by `√n · 119 · 2⁻²⁴` at most: `moved`, which takes 120 to pay
 *   for what underflows and for what 64-bit numbers round.
 * - `u − c` is exact, and without the low half right to one rounding. A square adds one more, each of the four sums at once
 *   `n / 4`, and their sum two. Nothing is negative, so the sums are right to a share of `n / 4 + 4` roundings, the lengths to half
 *   as much (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1): `share` takes the whole, which covers that these multiply.
 * - A unit row is divided by its length as known here. If that is off by `d`, so is the row, by `d` in steps.
 *
 * @param options.numbers - how many numbers a row has, zeros at its end included: a multiple of 4
 * @param options.isUnit - whether rows are compared as if they had length 1
 * @param sums - what the kernel returns: `inverse`, and the squares of the row, of what it loses, and of that without the low halves
 */
export function boundRow(sums: Float32Array, { numbers, isUnit }: { numbers: number; isUnit: boolean }): RowBounds {
  const share = (numbers / 4 + 4) * roundoff;
  const moved = Math.sqrt(numbers) * (largestRowCode + 1) * roundoff;
  const known = Math.sqrt(sums[1] as number);
  const unknown = known * share + moved;
  // Zeros have no direction; they stay zeros.
  const scale = known === 0 ? 0 : 1 / (isUnit ? known : (sums[0] as number));
  const missing = moved + (isUnit ? unknown : 0);
  const atMost = (squares: number): number => scale * (Math.sqrt(squares) * (1 + share) + missing);
  return {
    scale,
    length: scale * (known + unknown),
    lost: atMost(sums[2] as number),
    lostWithoutLow: atMost(sums[3] as number),
  };
}
