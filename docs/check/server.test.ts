// The documentation server: what it finds for questions of newcomers, and whether its package is complete.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';
import type { VectorQueryOutput } from '@quiver/rag';

const docs = fileURLToPath(new URL('..', import.meta.url));
/** The oldest Node that is supported, when `npm test` started with it. */
const command = process.env['QUIVER_HOST_NODE'] ?? process.execPath;

describe('the package of the documentation server', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'quiver-docs-package-'));
  const server = join(scratch, 'package/server.mjs');
  const mcp = new MCPClient({ servers: { docs: { command, args: [server] } } });
  const call = async (name: string, args: Record<string, unknown>) => mcp.callTool({ serverName: 'docs', name, args });

  before(() => {
    // A copy: in the workspace, npm visits all links of pnpm first.
    const copy = join(scratch, 'docs');
    cpSync(docs, copy, { recursive: true, filter: (path) => !/node_modules|\.vitepress|generated|\/api$/.test(path) });
    const pack = ['pack', '--json', '--silent', '--pack-destination', scratch];
    const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: copy, encoding: 'utf8' }));
    execFileSync('tar', ['-xzf', join(scratch, filename)], { cwd: scratch });
    symlinkSync(join(docs, 'node_modules'), join(scratch, 'package/node_modules'));
  });
  after(async () => {
    await mcp.disconnect();
    rmSync(scratch, { recursive: true });
  });

  test('finds a page that answers first, for each question of newcomers, and fills at least five of six places', async () => {
    const questions = JSON.parse(readFileSync(new URL('server-questions.json', import.meta.url), 'utf8')) as Record<
      string,
      string[]
    >;
    let useful = 0;
    const missed: string[] = [];
    for (const [queryText, expected] of Object.entries(questions)) {
      const { structuredContent } = await call('searchDocs', { queryText, topK: 3 });
      const { sources } = structuredContent as VectorQueryOutput;
      const answers = sources.map(({ metadata, document }) =>
        expected.some((entry) => {
          const [page, words = ''] = entry.split('#');
          return metadata['source'] === page && document.toLowerCase().includes(words);
        }),
      );
      useful += answers.filter(Boolean).length;
      if (!answers[0]) missed.push(`${queryText} ${sources.map(({ metadata }) => metadata['source']).join(', ')}`);
    }
    assert.deepEqual(missed, []);
    const places = 3 * Object.keys(questions).length;
    assert.ok(useful >= (places * 5) / 6, `${useful} of ${places} places are useful`);
  });

  test('finds an error by its code', async () => {
    const { content } = await call('searchDocs', { queryText: 'MCP_OUTPUT_TOO_COMPLEX', topK: 1 });
    const [text] = content as { text: string }[];
    assert.match(text?.text ?? '', /reference\/errors\.md[\s\S]*MCP_OUTPUT_TOO_COMPLEX/);
  });

  test('connects passages of several pages', async () => {
    const { structuredContent } = await call('exploreDocs', { queryText: 'Which store do several processes share?' });
    const { sources } = structuredContent as VectorQueryOutput;
    assert.ok(new Set(sources.map(({ metadata }) => metadata['source'])).size > 1);
  });

  test('returns a whole page, by each name that only this page has', async () => {
    const text = readFileSync(join(docs, 'guides/gateway.md'), 'utf8');
    for (const page of [
      'guides/gateway.md',
      'docs/guides/gateway.md',
      './guides/gateway',
      'gateway',
      'gateway.md#limits',
    ])
      assert.deepEqual((await call('readPage', { page })).content, [{ type: 'text', text }], page);
  });

  test('rejects a name without a page, and one of several pages, with the nearest pages', async () => {
    for (const [page, nearest] of [
      ['guides/gatway.md', 'guides/gateway.md'],
      ['mcp-server', 'getting-started/mcp-server.md, guides/mcp-server.md.'],
      ['../package.json', ''],
    ]) {
      const { isError, content } = await call('readPage', { page });
      const [{ text = '' } = {}] = content as { text?: string }[];
      assert.ok(isError && text.includes(`no page '${page}'. Nearest pages: ${nearest}`), text);
      assert.ok(text.length < 300, text);
    }
  });
});
