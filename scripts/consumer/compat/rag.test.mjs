import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLexicalEmbedder, createVectorQueryTool, ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

test('a folder index finds documents after it is reopened and cites their position', async () => {
  const path = await mkdtemp(join(tmpdir(), 'quiver-compat-'));
  const embedder = createLexicalEmbedder();
  const text = '# Tea\n\nGreen tea wants 80 degrees.\n\n# Coffee\n\nCoffee wants 94 degrees.';
  const documents = [MDocument.fromMarkdown(text, { source: 'drinks.md' })];
  try {
    const writer = new LocalVector({ path });
    assert.equal((await ingest({ documents, vectorStore: writer, indexName: 'drinks', model: embedder })).added, 2);
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
