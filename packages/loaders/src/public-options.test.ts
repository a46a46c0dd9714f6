import { describe, expect, it } from 'vitest';
import { readPublicFunctions } from '../../../scripts/public-functions.js';
import { listFiles, loadDocument, loadDocuments, loadPages, readSitemap } from './index.js';

/** Adds an option, as programs in JavaScript can. */
const withUnknown = (options: object): never => ({ unknownOption: 1, ...options }) as never;
const unknown = withUnknown({});

/** Runs a generator to its first value. */
const first = (items: AsyncIterable<unknown>): Promise<unknown> => items[Symbol.asyncIterator]().next();

/** A call of each public function with an option that it does not have. */
const calls: Record<string, () => unknown> = {
  loadDocument: () => loadDocument(new Uint8Array(), withUnknown({ name: 'a.txt' })),
  loadDocuments: () => first(loadDocuments('.', unknown)),
  listFiles: () => first(listFiles('.', unknown)),
  loadPages: () => first(loadPages([], unknown)),
  readSitemap: () => first(readSitemap('https://x.example', unknown)),
};

/** Functions without options. */
const exempt = ['readPageState', 'writePageState'];

describe('options of the public functions', () => {
  it('are checked by each function, or the function is listed as exempt', async () => {
    const functions = await readPublicFunctions('@quiver/loaders', (entry) => import(entry));
    expect(functions.toSorted()).toEqual([...Object.keys(calls), ...exempt].toSorted());
  });

  it.each(Object.entries(calls))('of %s are rejected if they are unknown', async (name, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID' });
    expect((error as Error).message).toMatch(
      new RegExp(`^${name} has no option 'unknownOption'\\. Its options are: \\w+`),
    );
  });
});
