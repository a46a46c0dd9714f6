/**
 * Yields the ends of all places of a pattern, in linear time for any text: `indexOf` takes seconds for some.
 *
 * @see [Knuth, Morris, Pratt: Fast pattern matching in strings](https://doi.org/10.1137/0206024)
 */
export function* endsOf(pattern: Uint16Array, units: Uint16Array): Generator<number> {
  /** By length of a beginning of the pattern: that of the longest shorter beginning with which it ends. */
  const shorter = new Int32Array(pattern.length + 1);
  for (let at = 1, length = 0; at < pattern.length; at += 1) {
    while (length > 0 && pattern[length] !== pattern[at]) length = shorter[length]!;
    if (pattern[length] === pattern[at]) length += 1;
    shorter[at + 1] = length;
  }
  let matched = 0;
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at]!;
    while (matched > 0 && pattern[matched] !== unit) matched = shorter[matched]!;
    if (pattern[matched] === unit) matched += 1;
    else if ((at = units.indexOf(pattern[0]!, at + 1) - 1) < 0) return;
    if (matched < pattern.length) continue;
    yield at + 1;
    matched = shorter[matched]!;
  }
}
