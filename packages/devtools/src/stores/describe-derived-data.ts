import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VectorStore } from '@quiver/rag';
import { expectError, type StoreSuite } from './describe-search-modes.js';

/** Suite for index versions and derived data, of stores that support them. */
export function describeDerivedData({ name: storeName, open, close }: StoreSuite): void {
  describe(`${storeName} as a place for what is calculated from an index`, () => {
    let store: VectorStore;
    const indexName = 'plans';
    const name = 'graph-1';
    const data = new Uint8Array([0, 1, 254, 255]);

    beforeEach(async (context) => {
      store = await open();
      if (!store.version && !store.derived) context.skip();
      await store.createIndex({ indexName, dimension: 2 });
      await store.createIndex({ indexName: 'other', dimension: 2 });
    }, 60_000);
    afterEach(() => close(store));

    it('tells every change of an index by its version, and nothing else', async (context) => {
      const version = store.version?.bind(store);
      if (!version) return context.skip();
      const write = (id: string, text: string): Promise<unknown> =>
        store.upsert({ indexName, ids: [id], vectors: [[1, 0]], documents: [text] });
      const changes = [
        () => write('a', 'one'),
        () => write('b', 'two'),
        () => write('a', 'ten'),
        () => store.updateVector({ indexName, id: 'a', update: { metadata: { team: 'red' } } }),
        () => store.deleteVector({ indexName, id: 'b' }),
        () => store.truncateIndex({ indexName }),
        () => write('a', 'one'),
        async () => {
          await store.deleteIndex({ indexName });
          await store.createIndex({ indexName, dimension: 2 });
        },
        () => write('a', 'new'),
      ];
      const seen = [await version({ indexName })];
      for (const change of changes) {
        await change();
        seen.push(await version({ indexName }));
        await store.upsert({ indexName: 'other', ids: ['x'], vectors: [[1, 1]] });
        await store.query({ indexName, queryVector: [1, 0] });
        expect(await version({ indexName })).toBe(seen.at(-1));
      }
      for (const [step, changed] of seen.entries()) expect(changed).not.toBe(seen[step + 1]);
      await expectError(version({ indexName: 'none' }), 'VECTOR_INDEX_NOT_FOUND');
    });

    it('counts no further than asked, and only what passes the filter', async (context) => {
      const version = store.version?.bind(store);
      if (!version) return context.skip();
      const ids = Array.from({ length: 12 }, (_, n) => `id${n}`);
      const metadata = ids.map((_id, n) => ({ tenant: n < 3 ? 'small' : 'large' }));
      await store.upsert({ indexName, ids, vectors: ids.map(() => [1, 0]), metadata });
      expect(await version({ indexName, maxRecords: 12 })).toEqual(expect.any(String));
      expect(await version({ indexName, maxRecords: 11 })).toBeUndefined();
      const filter = { tenant: 'small' };
      const before = await version({ indexName, filter, maxRecords: 3 });
      expect(before).toEqual(expect.any(String));
      expect(await version({ indexName, filter, maxRecords: 2 })).toBeUndefined();
      await store.deleteVector({ indexName, id: 'id1' });
      expect(await version({ indexName, filter, maxRecords: 3 })).not.toBe(before);
      await expectError(version({ indexName, filter: { a: { $like: 'x' } }, maxRecords: 1 }), 'FILTER_INVALID');
    });

    it('keeps derived data with their index, replaces them, and deletes them with it', async (context) => {
      const { derived } = store;
      if (!derived) return context.skip();
      const read = async (key: object = {}): Promise<number[] | undefined> => {
        const found = await derived.read({ indexName, name, ...key });
        return found && [...found];
      };
      const other = { indexName: 'other' };
      expect(await read()).toBeUndefined();
      await derived.prepare();
      await derived.prepare();
      for (const key of [{ data: new Uint8Array([7]) }, { data }, { ...other, data: new Uint8Array([9]) }])
        expect(await derived.write({ indexName, name, ...key })).toBe(true);
      expect(await read()).toEqual([...data]);
      expect(await read({ name: 'graph-2' })).toBeUndefined();
      await store.deleteIndex({ indexName });
      await expectError(read(), 'VECTOR_INDEX_NOT_FOUND');
      await store.createIndex({ indexName, dimension: 2 });
      expect(await read()).toBeUndefined();
      expect(await read(other)).toEqual([9]);
    });

    it('empties derived data with the deletion of any record, because they may contain parts of it', async (context) => {
      const { derived } = store;
      if (!derived) return context.skip();
      const vectors = [[1, 0]];
      await store.upsert({ indexName: 'other', ids: ['a'], vectors });
      await derived.prepare();
      await derived.write({ indexName: 'other', name, data });
      const removals = [
        () => store.deleteVector({ indexName, id: 'a' }),
        () => store.deleteVectors({ indexName, ids: ['a'] }),
        () => store.deleteVectors({ indexName, filter: { team: 'red' } }),
      ];
      for (const remove of [...removals, () => store.truncateIndex({ indexName })]) {
        await store.upsert({ indexName, ids: ['a'], vectors, metadata: [{ team: 'red' }] });
        await derived.write({ indexName, name, data });
        await remove();
        expect(await derived.read({ indexName, name })).toHaveLength(0);
      }
      await derived.write({ indexName, name, data });
      for (const remove of [...removals, () => store.deleteVectors({ indexName, ids: [] })]) await remove();
      expect(await derived.read({ indexName, name })).toHaveLength(data.length);
      expect([...((await derived.read({ indexName: 'other', name })) ?? [])]).toEqual([...data]);
    });
  });
}
