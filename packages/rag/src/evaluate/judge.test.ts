import { expect, it } from 'vitest';
import type { VectorRecord, VectorStore } from '../store/index.js';
import { judge, locateCases } from './judge.js';

it('needs all chunks of a place, which can be on several pages of the store', async () => {
  const chunks = [0, 10].map((startIndex): VectorRecord => {
    const metadata = { source: 'a.md', startIndex, endIndex: startIndex + 10 };
    return { id: String(startIndex), metadata, document: 'Ten signs.' };
  });
  const listVectors: VectorStore['listVectors'] = async ({ cursor }) =>
    cursor === undefined ? { records: chunks.slice(0, 1), nextCursor: 'second' } : { records: chunks.slice(1) };
  const index = { store: { listVectors } as VectorStore, indexName: 'docs', filter: undefined, signal: undefined };
  const cases = [{ question: 'Which?', relevant: [{ source: 'a.md', startIndex: 5, endIndex: 15 }] }];
  const [located] = await locateCases(cases, index);
  expect(judge(located!, chunks, 'It').found).toEqual([[], [0]]);
});
