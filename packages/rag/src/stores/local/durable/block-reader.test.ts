import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../../scripts/test-folder.ts';
import { createBlockReader } from './block-reader.js';

const size = 15_000_000;
const bytes = Buffer.alloc(size);
for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);
let file: string;
beforeAll(async () => {
  file = join(await newFolder(), 'bytes');
  await writeFile(file, bytes);
});

/** Reads pieces of the given lengths one after another. @returns positions of wrong bytes */
async function findDifferences(lengths: () => number, start = 0, end = size): Promise<number[]> {
  const differences: number[] = [];
  const handle = await open(file, 'r');
  const { readAt } = createBlockReader(handle);
  for (let position = start; position < end;) {
    const length = lengths();
    const found = await readAt(position, length);
    if (!found.equals(bytes.subarray(position, Math.min(position + length, size)))) differences.push(position);
    position += length;
  }
  await handle.close();
  return differences;
}

describe('a block reader', () => {
  it.each([
    ['headers and payloads that end anywhere', [12, 1_500_017, 12, 3, 12, 700_001]],
    ['pieces as large as the first block', [2 << 20]],
    ['pieces larger than that between small ones', [12, 2_100_000, 12, 40, 5_000_001, 12, 40]],
    ['small pieces', [65_536]],
  ])('returns the bytes of the file: %s', async (_what, lengths) => {
    let turn = 0;
    expect(await findDifferences(() => lengths[(turn += 1) % lengths.length] as number)).toEqual([]);
  });

  it('starts at any position, and reads backwards', async () => {
    expect(await findDifferences(() => 999_983, 7_654_321)).toEqual([]);
    const handle = await open(file, 'r');
    const { readAt } = createBlockReader(handle);
    for (const position of [0, 9_000_000, 100, 14_999_990, 4_194_300]) {
      const found = await readAt(position, 64);
      expect(found.equals(bytes.subarray(position, position + 64))).toBe(true);
    }
    await handle.close();
  });

  it('returns fewer bytes only at the end of the file', async () => {
    const handle = await open(file, 'r');
    const { readAt } = createBlockReader(handle);
    expect((await readAt(size - 10, 100)).byteLength).toBe(10);
    expect((await readAt(size + 10, 100)).byteLength).toBe(0);
    await handle.close();
  });
});
