import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Measurements, SpanRecord } from '../src/telemetry.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

async function run(...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, 0, stderr);
  return stdout;
}

const [internal, server, client] = [0, 1, 2];

describe('traces example', () => {
  for (const [protocol, version] of [
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ] as const) {
    test(`records one trace over three processes with protocol version ${version}`, async () => {
      const { spans, measurements } = JSON.parse(await run('--json', '--protocol', protocol)) as {
        spans: SpanRecord[];
        measurements: Measurements;
      };
      const root = spans.find(({ name }) => name === 'execute_tool gateway_ask');
      assert(root);
      const trace = spans.filter(({ traceId }) => traceId === root.traceId);
      // From the root to the innermost span, each is the only child of the one before.
      const path = [root];
      for (let at: SpanRecord | undefined = root; at;) {
        const parent: string = at.spanId;
        at = trace.find(({ parentSpanId }) => parentSpanId === parent);
        if (at) path.push(at);
      }
      assert.deepEqual(
        path.map(({ process, name, kind }) => [process, name, kind]),
        [
          ['main', 'execute_tool gateway_ask', internal],
          ['gateway', 'tools/call ask', server],
          ['gateway', 'execute_tool docs_search', internal],
          ['search', 'tools/call search', server],
          ['search', 'retrieval notes', client],
          ['search', 'embeddings lexical-3-1024', internal],
        ],
      );
      assert.equal(trace.length, path.length);
      for (const { attributes } of path.slice(0, 4)) {
        assert.equal(attributes['mcp.method.name'], 'tools/call');
        assert.equal(attributes['mcp.protocol.version'], version);
      }
      assert.deepEqual(
        path.slice(0, 4).map(({ attributes }) => attributes['network.transport']),
        ['pipe', 'pipe', 'tcp', 'tcp'],
      );
      // Both sides of a request name it by the same id.
      assert.equal(path[0]?.attributes['jsonrpc.request.id'], path[1]?.attributes['jsonrpc.request.id']);
      assert.equal(path[2]?.attributes['jsonrpc.request.id'], path[3]?.attributes['jsonrpc.request.id']);
      assert(!JSON.stringify(spans).includes('coffee'), 'no span contains the question');

      const calls = measurements['mcp.client.operation.duration']?.filter(
        ({ attributes }) => attributes['mcp.method.name'] === 'tools/call',
      );
      assert.deepEqual(calls, [
        {
          attributes: {
            'network.transport': 'pipe',
            'mcp.method.name': 'tools/call',
            'mcp.protocol.version': version,
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'ask',
          },
          count: 1,
        },
      ]);
      assert.equal(measurements['mcp.client.session.duration']?.[0]?.count, 1);
    });
  }

  test('prints the trace as a tree', async () => {
    const lines = (await run()).trim().split('\n');
    assert.equal(lines.length, 6);
    assert.match(lines[5] ?? '', /^ {10}embeddings lexical-3-1024 +search +[\d.]+ ms$/);
  });
});
