import { expect, it } from 'vitest';
import { parseFilter } from '../filter/index.js';
import { nearestMatching } from './paging.js';

it('spends no more steps of patterns on a record that a database returns again', async () => {
  const text = 'a'.repeat(800_000);
  const records = Array.from({ length: 110 }, (_, place) => {
    return { similarity: -place, record: { id: String(place), metadata: { text } } };
  });
  const found = await nearestMatching({
    wanted: 1,
    filter: parseFilter({ text: { $regex: 'error' } }),
    find: async (limit) => records.slice(0, limit),
    isExact: true,
  });
  expect(found).toEqual([]);
});
