import { expect, it } from 'vitest';
import { idListings } from './id-listings.js';

it('keeps the eight listings that were made or renewed last', async () => {
  const { select } = idListings();
  let listed: string[] = [];
  const read = async (key: string, after?: string): Promise<void> => {
    const ids = await select(key, after, async () => {
      listed.push(key);
      return ['b', 'a'];
    });
    expect(ids).toEqual(after === undefined ? ['a', 'b'] : ['b']);
  };
  for (const key of ['0', '1', '2', '3', '4', '5', '6', '7', '1', '8', '9']) await read(key);
  listed = [];
  for (const key of ['1', '3', '8', '9']) await read(key, 'a');
  expect(listed).toEqual([]);
  await read('2', 'a');
  expect(listed).toEqual(['2']);
});
