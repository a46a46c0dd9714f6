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

/** Writes the median of the rounds, with the least and the largest if they differ: `0.41 (0.39–0.44)`. */
export function withSpread(rounds, digits = 2) {
  const [middle, least, most] = [median(rounds), Math.min(...rounds), Math.max(...rounds)].map((value) =>
    value.toFixed(digits),
  );
  return least === most ? middle : `${middle} (${least}–${most})`;
}

/** Measures each system in turn in every round. @returns its results, one per round */
export async function inTurn(systems, rounds, run) {
  const results = systems.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, system] of systems.entries()) results[index].push(await run(system));
  return results;
}

/** Returns the result of an operation, its duration, and the CPU time of this process, in milliseconds. */
export async function timed(run) {
  const before = process.cpuUsage();
  const start = performance.now();
  const result = await run();
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { result, elapsed, cpu: (user + system) / 1000 };
}

/** Returns a Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
