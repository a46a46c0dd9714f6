import { expect } from 'vitest';

/** Shorter times, in microseconds, are noise. */
const shortest = 1000;

async function cpuTimeOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return Math.max(shortest, user + system);
}

/** Returns the ratio of the CPU times of two calls: the least of three, which hardly depends on the load of the machine. */
export async function cpuTimeRatio(large: () => unknown, small: () => unknown): Promise<number> {
  // The first call compiles the code.
  await small();
  const ratios: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const time = await cpuTimeOf(small);
    ratios.push((await cpuTimeOf(large)) / time);
  }
  return Math.min(...ratios);
}

/**
 * Expects that the CPU time of a call grows with the size of its input, and not faster.
 *
 * @param size - of the smaller input. The larger one is four times as large: quadratic code takes 16 times as long for it
 */
export async function expectLinearTime(run: (size: number) => unknown, size: number): Promise<void> {
  const ratio = await cpuTimeRatio(
    () => run(4 * size),
    () => run(size),
  );
  expect(ratio, 'CPU time for four times the input').toBeLessThan(9);
}
