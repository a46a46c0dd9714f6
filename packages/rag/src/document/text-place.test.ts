import { describe, expect, test } from 'vitest';
import { MDocument } from './document.js';
import type { TextPlace } from './text-place.js';

const text = 'One two three.\n\nFour five six.\n\nSeven eight.';
const places: TextPlace[] = [
  { start: 0, end: 8, page: 1, box: [10, 700, 90, 720] },
  { start: 8, end: 14, page: 2, box: [20, 30, 80, 50] },
  { start: 16, end: 30, page: 2, box: [10, 60, 90, 80] },
  { start: 32, end: 44, page: 4 },
];

describe('places of a text on pages', () => {
  const chunk = async (maxSize: number): Promise<[string, unknown][]> => {
    const chunks = await new MDocument({ text, places }).chunk({ maxSize, overlap: 0 });
    return chunks.map(({ text: own, metadata: { page, endPage, box } }) => [own, { page, endPage, box }]);
  };

  test('give chunks the page where they begin, their rectangle there, and the page where they end', async () => {
    expect(await chunk(15)).toEqual([
      ['One two three.', { page: 1, endPage: 2, box: [10, 700, 90, 720] }],
      ['Four five six.', { page: 2, box: [10, 60, 90, 80] }],
      ['Seven eight.', { page: 4 }],
    ]);
    expect(await chunk(30)).toEqual([
      ['One two three.\n\nFour five six.', { page: 1, endPage: 2, box: [10, 700, 90, 720] }],
      ['Seven eight.', { page: 4 }],
    ]);
    expect(await chunk(1000)).toEqual([[text, { page: 1, endPage: 4, box: [10, 700, 90, 720] }]]);
  });

  test('do not change the ids of chunks', async () => {
    const moved = places.map((place) => ({ ...place, page: place.page + 1 }));
    const [first, second] = [new MDocument({ text, places }), new MDocument({ text, places: moved })];
    const idsOf = async (document: MDocument): Promise<string[]> => (await document.chunk()).map(({ id }) => id);
    expect(await idsOf(second)).toEqual(await idsOf(first));
  });

  test.each<[string, unknown]>([
    ['a place outside of the text', [{ start: 0, end: text.length + 1, page: 1 }]],
    ['places that overlap', [places[1], { ...places[1], start: 10 }]],
    ['places in another order', places.toReversed()],
    ['the page 0', [{ start: 0, end: 5, page: 0 }]],
    ['a place without a page', [{ start: 0, end: 5 }]],
    ['a rectangle with three sides', [{ start: 0, end: 5, page: 1, box: [1, 2, 3] }]],
    ['no list', { start: 0, end: 5, page: 1 }],
    ['null', [null]],
  ])('reject %s', (_what, given) => {
    expect(() => new MDocument({ text, places: given as TextPlace[] })).toThrow(/places must be a list of/);
  });
});
