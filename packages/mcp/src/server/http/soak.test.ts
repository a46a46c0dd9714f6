import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../../../../scripts/test-variable.ts';

const repository = new URL('../../../../../', import.meta.url);
const hooks = fileURLToPath(new URL('scripts/source-hooks.mjs', repository));
const program = fileURLToPath(new URL('../../../test/programs/soak-program.ts', import.meta.url));

/** Heap in KB after collection, at the points in time that the program names. */
async function soak(what: 'calls' | 'sessions', count: number): Promise<number[]> {
  const child = fork(program, [what, String(count)], {
    execArgv: ['--conditions=@quiver/source', '--import', hooks, '--expose-gc', '--unhandled-rejections=strict'],
  });
  const [heaps] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the program exited with code ${code}`))),
  ])) as [number[]];
  child.kill();
  return heaps;
}

describe.skipIf(!isLongRun)('a server that runs for long', () => {
  test('keeps the heap constant over 100 000 calls on one session', async () => {
    const heaps = await soak('calls', 100_000);
    const [, second = 0, , last = 0] = heaps;
    // Half of the calls lie between the two: under 20 bytes for each of them is noise of the runtime.
    expect((last - second) * 1024).toBeLessThan((100_000 / 2) * 20);
  });

  test('2 000 sessions cost at most 4 KB each while open and nothing after they ended', async () => {
    const [before = 0, open = 0, after = 0] = await soak('sessions', 2_000);
    expect((open - before) / 2_000).toBeLessThan(4);
    expect((after - before) / 2_000).toBeLessThan(0.5);
  });
});
