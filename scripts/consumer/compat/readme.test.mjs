// Runs the examples of the README unchanged, except for the port, the model and the folder.
import assert from 'node:assert/strict';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MockLanguageModelV4 } from 'ai/test';

const here = fileURLToPath(new URL('.', import.meta.url));
const generated = join(here, 'generated');
const scratch = await mkdtemp(join(tmpdir(), 'quiver-readme-'));
const readme = await readFile(join(here, '../../../README.md'), 'utf8');
const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]);
const printed = [];

before(() => mkdir(generated, { recursive: true }));
after(async () => {
  await rm(generated, { recursive: true, force: true });
  await rm(scratch, { recursive: true, force: true });
});

async function run(index, replacements, exported) {
  const file = join(generated, `example-${index}.mjs`);
  let code = blocks[index].replaceAll('console.log(', 'globalThis.quiverPrint(');
  for (const [from, to] of replacements) {
    const changed = code.replace(from, to);
    assert.notEqual(changed, code, `the README no longer contains ${from}`);
    code = changed;
  }
  globalThis.quiverPrint = (value) => printed.push(value);
  await writeFile(file, `${code}\nexport { ${exported} };\n`);
  return import(pathToFileURL(file).href);
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model that calls the first tool and then returns the tool's result as text. */
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt, tools }) => {
    const last = prompt.at(-1);
    if (last.role !== 'tool') {
      const content = [{ type: 'tool-call', toolCallId: '1', toolName: tools[0].name, input: '{"city":"Oslo"}' }];
      return { content, finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage, warnings: [] };
    }
    const content = [{ type: 'text', text: JSON.stringify(last.content[0].output) }];
    return { content, finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
  },
});

test('the README serves a tool over MCP, and generateText calls it', async () => {
  const { server, url } = await run(0, [["process.env['PORT'] ?? 3000", '0']], 'server, url');
  try {
    globalThis.quiverModel = model;
    const { text } = await run(
      1,
      [
        ["import { openai } from '@ai-sdk/openai';\n", ''],
        ["openai('gpt-5.1')", 'globalThis.quiverModel'],
        ["process.argv[2] ?? 'http://127.0.0.1:3000/mcp'", JSON.stringify(String(url))],
      ],
      'text',
    );
    assert.match(text, /"celsius":4/);
  } finally {
    await server.close();
  }
});

test('the README answers questions from documents', async () => {
  const docs = join(scratch, 'docs');
  await mkdir(docs);
  await writeFile(join(docs, 'guide.md'), '# Coats\n\n## Winter\n\nWear one below five degrees: [shops](shops.md).');
  await writeFile(join(docs, 'shops.md'), '# Where to buy\n\nBjarne, Karl Johans gate 12.');
  const { matches } = await run(
    2,
    [['process.argv.slice(2)', JSON.stringify([docs, 'When do I wear a coat?'])]],
    'matches',
  );
  assert.match(matches[0].metadata.source, /guide\.md$/);
  assert.match(matches[0].document, /Wear one below five degrees/);
  assert.ok(printed.some((line) => line.includes(matches[0].document)));
});
