import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { createTool } from '@quiver/core/tools';
import { evaluationToHtml } from '@quiver/devtools/evaluate';
import { graphToHtml, viewGraph } from '@quiver/devtools/graph';
import { createTestClient, describeEras, expectMcp } from '@quiver/devtools/testing';
import { MCPServer } from '@quiver/mcp/server';
import { createLexicalEmbedder, ingest, MDocument } from '@quiver/rag';
import { evaluateRetrieval } from '@quiver/rag/evaluate';
import { LocalVector } from '@quiver/rag/local';

const greet = createTool({ id: 'greet', description: 'Greets', execute: async () => 'Good morning' });
const server = new MCPServer({ name: 'Greeter', version: '1', tools: { greet } });

describeEras((protocol) => {
  test('the test kit calls a server', async () => {
    const client = await createTestClient(server, { protocol });
    await expectMcp(client).toOfferTool('greet');
    await expectMcp(client.call('greet')).toReturnResult('Good morning');
    await client.close();
  });
});

test('a question becomes the page of a graph and a report', async () => {
  const index = { vectorStore: new LocalVector(), indexName: 'drinks', model: createLexicalEmbedder() };
  const text = '# Tea\n\nGreen tea wants 80 degrees.\n\n# Coffee\n\nCoffee wants 94 degrees.';
  await ingest({ ...index, documents: [MDocument.fromMarkdown(text, { source: 'drinks.md' })] });
  const page = await graphToHtml(await viewGraph({ ...index, queryText: 'How hot should coffee be?' }));
  assert.match(page, /Coffee wants 94 degrees/);
  const cases = [{ question: 'How hot should coffee be?', relevant: [{ quote: '94 degrees' }] }];
  const configurations = [{ name: 'keyword', mode: 'keyword' }];
  const evaluation = await evaluateRetrieval({
    vectorStore: index.vectorStore,
    indexName: 'drinks',
    cases,
    configurations,
  });
  assert.match(evaluationToHtml(evaluation), /How hot should coffee be/);
});

test('the command says how it is used', () => {
  const command = fileURLToPath(
    new URL('command.js', import.meta.resolve('@quiver/devtools/testing').replace('testing/', '')),
  );
  const { status, stderr } = spawnSync(process.execPath, [command], { encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(stderr, /^Usage: npx @quiver\/devtools types /);
});
