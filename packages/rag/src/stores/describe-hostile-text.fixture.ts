import { expect, it } from 'vitest';
import type { VectorStore } from '../store/index.js';

/** Texts that a store keeps, and halves of characters that it rejects. */
export function describeHostileText(open: () => Promise<VectorStore>): void {
  it('stores hostile text unchanged, and rejects halves of surrogate pairs', async () => {
    const indexName = 'hostile';
    const store = await open();
    await store.createIndex({ indexName, dimension: 1 });
    const text = `'); DROP TABLE x; -- "\\ \u{1F600} %_ \n\0`;
    const metadata = { [text]: text, half: '\ud800', deep: { [text]: [text, null, 1e21] } };
    await store.upsert({ indexName, ids: [text], vectors: [[1]], metadata: [metadata], documents: [text] });
    expect(await store.get({ indexName, ids: [text, '\ud800'] })).toEqual([{ id: text, metadata, document: text }]);
    for (const filter of [{ [text]: text }, { half: '\ud800' }])
      expect((await store.listVectors({ indexName, filter })).records.map(({ id }) => id)).toEqual([text]);
    for (const params of [{ ids: ['\ud800'] }, { documents: ['half \ud800'] }])
      await expect(store.upsert({ indexName, vectors: [[1]], ...params })).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
      });
    await store.deleteVectors({ indexName, ids: [text, '\ud800'] });
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 0 });
  });
}
