import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type DeleteDocumentsOptions,
  type IngestReport,
  MDocument,
  type VectorStore,
  createLexicalEmbedder,
  deleteDocuments,
  exportIndex,
  importIndex,
  ingest,
} from '@quiver/rag';
import type { StoreSuite } from './describe-search-modes.js';

/** Suite for documents of several owners in one index. */
export function describeScopes({ name, open, close }: StoreSuite): void {
  describe(`${name} as a place for documents of several owners`, () => {
    let store: VectorStore;
    const indexName = 'notes';
    const model = createLexicalEmbedder({ dimension: 16 });
    const a = { tenant: 'a' };
    const b = { tenant: 'b' };

    beforeEach(async () => {
      store = await open();
    }, 60_000);
    afterEach(() => close(store));

    const readme = (text: string): MDocument[] => [MDocument.fromText(text, { source: 'readme.md' })];
    const run = (text: string, options: object = {}): Promise<IngestReport> =>
      ingest({ documents: readme(text), vectorStore: store, indexName, model, maxRetries: 0, ...options });
    const remove = (options: Pick<DeleteDocumentsOptions, 'scope'> = {}): Promise<number> =>
      deleteDocuments({ vectorStore: store, indexName, sources: ['readme.md'], ...options });
    const texts = async (): Promise<unknown[]> =>
      (await store.listVectors({ indexName })).records.map(({ document }) => document).toSorted();
    const details = { indexName, keys: [['tenant']] };
    async function expectRefusal(call: Promise<unknown>): Promise<void> {
      const message = expect.stringMatching(
        /'notes' have owners, the scope \{ tenant \}.*scope: \{ tenant: … \}.*'all'/,
      );
      await expect(call).rejects.toMatchObject({ code: 'INGEST_SCOPE_MISSING', message, details });
    }

    it('refuses calls without a scope, and changes nothing', async () => {
      for (const scope of [a, b]) await run(`Salaries of ${scope.tenant}.`, { scope });
      for (const options of [{}, { dryRun: true }, { cleanup: 'none' }])
        await expectRefusal(run('Salaries of nobody.', options));
      await expectRefusal(remove());
      expect(await texts()).toEqual(['Salaries of a.', 'Salaries of b.']);
      // The keys of the scope are not a record.
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 2 });
      const [queryVector = []] = await model.embed(['Salaries']);
      expect(await store.query({ indexName, queryVector })).toHaveLength(2);
    });

    it('refuses calls as long as one owner has a document, and finds it behind many records of others', async () => {
      await run('Salaries of a.', { scope: a });
      const ids = Array.from({ length: 120 }, (_, n) => `!${String(n).padStart(3, '0')}`);
      await store.upsert({ indexName, ids, vectors: ids.map(() => new Float32Array(16).fill(1)) });
      await run('Salaries of b.', { scope: b });
      expect(await remove({ scope: b })).toBe(1);
      await expectRefusal(run('Salaries of nobody.'));
      expect(await remove({ scope: a })).toBe(1);
      expect(await run('Salaries of nobody.')).toMatchObject({ added: 1 });
    });

    it("reaches the documents of every owner with scope: 'all'", async () => {
      for (const scope of [a, b]) await run(`Salaries of ${scope.tenant}.`, { scope });
      expect(await run('Salaries of nobody.', { scope: 'all' })).toMatchObject({ added: 1, removed: 2 });
      await run('Salaries of a.', { scope: a });
      expect(await remove({ scope: 'all' })).toBe(2);
      expect(await texts()).toEqual([]);
    });

    it('keeps documents of an owner that appear while a call without a scope runs', async () => {
      async function* documents(): AsyncGenerator<MDocument> {
        yield* readme('Salaries of nobody.');
        await run('Salaries of a.', { scope: a });
      }
      expect(await run('', { documents: documents(), cleanup: 'all' })).toMatchObject({ added: 1, removed: 0 });
      expect(await texts()).toEqual(['Salaries of a.', 'Salaries of nobody.']);
    });

    it('refuses a scope with other keys than those of the index', async () => {
      await run('Salaries of a.', { scope: a });
      for (const scope of [{ user: 'a' }, { ...a, user: 'a' }])
        for (const call of [() => run('Salaries.', { scope }), () => remove({ scope })])
          await expect(call()).rejects.toMatchObject({ code: 'INGEST_SCOPE_MISMATCH', details });
      expect(await texts()).toEqual(['Salaries of a.']);
    });

    it('keeps the keys of the scope in an export', async () => {
      await run('Salaries of a.', { scope: a });
      const lines: string[] = [];
      for await (const line of exportIndex({ vectorStore: store, indexName })) lines.push(line);
      await store.deleteIndex({ indexName });
      expect(await importIndex({ lines, vectorStore: store, indexName })).toBe(1);
      await expectRefusal(run('Salaries of nobody.'));
    });
  });
}
