// One trace over three processes: this program → MCP server over stdio → MCP server over HTTP → search in an index.
//
//   node src/main.ts                     prints the trace as a tree
//   node src/main.ts --protocol legacy   with protocol version 2025-11-25 instead of 2026-07-28
//   node src/main.ts --json              prints spans and metrics as JSON
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MCPClient } from '@quiver/mcp/client';
import { startTelemetry, type Measurements, type SpanRecord } from './telemetry.ts';

const { values } = parseArgs({
  options: { protocol: { type: 'string', default: 'modern' }, json: { type: 'boolean' } },
});
if (values.protocol !== 'modern' && values.protocol !== 'legacy') throw new TypeError('--protocol is modern or legacy');

const scratch = await mkdtemp(join(tmpdir(), 'quiver-traces-'));
try {
  const { answer, spans, measurements } = await run(values.protocol, join(scratch, 'spans.jsonl'));
  if (!answer.includes('94 degrees')) throw new Error(`Unexpected answer: ${answer}`);
  console.log(values.json ? JSON.stringify({ answer, spans, measurements }) : toTree(spans));
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function run(
  protocol: 'legacy' | 'modern',
  file: string,
): Promise<{ answer: string; spans: SpanRecord[]; measurements: Measurements }> {
  const { measure } = startTelemetry('main', file);
  const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const search = spawn(process.execPath, [program('./search-server.ts'), file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(search, 'close');
  let answer: string;
  try {
    search.stdout.setEncoding('utf8');
    const [printed] = (await once(search.stdout, 'data')) as [string];
    const args = [program('./gateway.ts'), file, printed.trim(), protocol];
    const mcp = new MCPClient({ servers: { gateway: { command: process.execPath, args, protocol } } });
    const { gateway_ask: ask } = await mcp.listTools();
    answer = JSON.stringify(await ask?.execute({ question: 'How hot should the water for coffee be?' }));
    await mcp.disconnect();
  } finally {
    search.stdin.end();
    await ended;
  }
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return { answer, spans: lines.map((line) => JSON.parse(line) as SpanRecord), measurements: await measure() };
}

/** Returns the trace of the tool call. */
function toTree(spans: readonly SpanRecord[]): string {
  const root = spans.find(({ name }) => name === 'execute_tool gateway_ask');
  const lines: string[] = [];
  const add = (span: SpanRecord, depth: number): void => {
    const label = `${'  '.repeat(depth)}${span.name}`;
    lines.push(`${label.padEnd(48)} ${span.process.padEnd(8)} ${span.milliseconds.toFixed(1).padStart(7)} ms`);
    for (const child of spans) if (child.parentSpanId === span.spanId) add(child, depth + 1);
  };
  if (root) add(root, 0);
  return lines.join('\n');
}
