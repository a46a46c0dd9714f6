import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadDocument } from '@quiver/loaders';

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
