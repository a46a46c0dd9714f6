import { expect, test } from 'vitest';
import { createSourceSet } from './source-set.js';

test('a few sources are asked for by name, in portions', () => {
  const sources = createSourceSet();
  for (let n = 0; n < 250; n += 1) sources.add(`${n % 240}.md`);
  const filters = sources.toFilters() as { source: { $in: string[] } }[];
  expect(filters.map(({ source }) => source.$in.length)).toEqual([100, 100, 40]);
  expect(filters[2]?.source.$in.at(-1)).toBe('239.md');
});

test('of very many sources, and of such as no filter can name, the whole index is read', () => {
  const many = createSourceSet();
  for (let n = 0; n < 1001; n += 1) many.add(`${n}.md`);
  expect(many.toFilters()).toEqual([undefined]);
  expect([many.has('1000.md'), many.has('1001.md')]).toEqual([true, false]);

  const structured = createSourceSet();
  structured.add({ url: 'https://a.example', page: 1 });
  expect(structured.toFilters()).toEqual([undefined]);
  expect(structured.has({ page: 1, url: 'https://a.example' })).toBe(true);
});
