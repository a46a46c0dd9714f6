import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { chunkPicture, drawChunks, pictures } from './pictures.fixture.js';

test.each(pictures)('the page of $options.strategy shows what its example gives', async (picture) => {
  const page = await readFile(
    new URL(`../../../../../docs/guides/chunking/${picture.options.strategy}.md`, import.meta.url),
    'utf8',
  );
  expect(page).toContain(picture.source.trimEnd());
  expect(page).toContain(drawChunks(await chunkPicture(picture)));
});
