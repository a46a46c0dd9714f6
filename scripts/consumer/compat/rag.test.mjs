import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLexicalEmbedder, createVectorQueryTool, ingest, MDocument } from '@quiver/rag';
import { loadDocument } from '@quiver/rag/loaders';
import { LocalVector } from '@quiver/rag/local';

test('a folder index finds documents after it is reopened and cites their position', async () => {
  const path = await mkdtemp(join(tmpdir(), 'quiver-compat-'));
  const embedder = createLexicalEmbedder();
  const text = '# Tea\n\nGreen tea wants 80 degrees.\n\n# Coffee\n\nCoffee wants 94 degrees.';
  const documents = [MDocument.fromMarkdown(text, { source: 'drinks.md' })];
  try {
    const writer = new LocalVector({ path });
    assert.equal((await ingest({ documents, store: writer, indexName: 'drinks', embedder })).added, 2);
    await writer.close();

    const store = new LocalVector({ path });
    const search = createVectorQueryTool({ vectorStore: store, indexName: 'drinks', model: embedder });
    const { sources } = await search.execute({ queryText: 'How hot should coffee be?', topK: 1 });
    const { startIndex, endIndex, headings } = sources[0].metadata;
    assert.deepEqual(headings, ['Coffee']);
    assert.equal(text.slice(startIndex, endIndex), sources[0].document);
    await store.close();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});

test('a file that takes too long or too much memory ends its thread, and neither the process nor other files', async () => {
  const bytes = new TextEncoder().encode(`${'a,'.repeat(4_000_000)}\nb`);
  const exceeds = (options, limit) =>
    assert.rejects(loadDocument(bytes, { name: 'a.csv', ...options }), (error) => {
      assert.deepEqual([error.code, error.details.limit], ['DOCUMENT_LIMIT_EXCEEDED', limit]);
      return true;
    });
  await exceeds({ timeout: 20 }, 'time');
  await exceeds({ maxMemoryMb: 64 }, 'memory');
  const [document] = await loadDocument(new TextEncoder().encode('a,b\n1,2'), { name: 'b.csv' });
  assert.deepEqual(document.getText(), ['| a | b |\n| --- | --- |\n| 1 | 2 |']);
});
