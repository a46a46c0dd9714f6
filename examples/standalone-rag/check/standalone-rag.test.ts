import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const question = 'How hot should the water for coffee be?';
let scratch: string;
let notes: string;

/** Two sections, each long enough to be a separate passage. */
const tea = (degrees: number): string =>
  `# Tea\n\nGreen tea wants water of ${degrees} degrees. It is steamed or roasted soon after it was picked, so its leaves stay green. Steep it for two minutes at most, because it turns bitter after that, and use the same leaves a second and a third time.\n\n## Milk\n\nNever in green tea. Its taste is too fine for it. Black tea from Assam or Ceylon is strong enough; pour the tea first and the milk after it, so that you can see how much of it the cup still takes, and add sugar last if you like.\n`;

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'quiver-standalone-rag-'));
  notes = join(scratch, 'notes');
  await mkdir(join(notes, 'deep'), { recursive: true });
  await writeFile(join(notes, 'tea.md'), tea(80));
  await writeFile(join(notes, 'deep', 'coffee.md'), '# Coffee\n\nCoffee wants water of 94 degrees.\n');
  await writeFile(join(notes, 'picture.md'), Buffer.from([0x89, 0x50, 0x00, 0xff]));
});
after(() => rm(scratch, { recursive: true, force: true }));

async function run(words: string[], env: NodeJS.ProcessEnv = {}) {
  const { OPENAI_API_KEY: _key, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...words], { cwd: scratch, env: { ...inherited, ...env } });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

describe('standalone RAG example', () => {
  test('indexes a folder and ranks the passage with the answer first', async () => {
    const { code, stdout, stderr } = await run([notes, question]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Indexed {4}2 documents: 3 passages embedded, 0 unchanged, 0 removed/);
    assert.match(
      stdout,
      /\n1\. 0\.\d{3} {2}deep\/coffee\.md › Coffee\n {10}# Coffee Coffee wants water of 94 degrees\./,
    );
    assert.match(stderr, /Skipped {4}picture\.md: binary/);
    assert.match(stderr, /Indexing {3}2 documents, 3 passages, 3 embedded/);
  });

  test('embeds only changed passages in the next run', async () => {
    await writeFile(join(notes, 'deep', 'coffee.md'), '# Coffee\n\nCoffee wants water of 92 degrees.\n');
    const { stdout } = await run([notes, question]);
    assert.match(stdout, /^Indexed {4}2 documents: 1 passages embedded, 2 unchanged, 1 removed/);
    assert.match(stdout, /\n1\. .*\n.*92 degrees/);
  });

  test('calls models if there is a key: one request for all vectors, one for all scores', async () => {
    const asked: string[] = [];
    const api = createServer(async (request, response) => {
      const body = (await json(request)) as { input: string[] | { content: string | { text: string }[] }[] };
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify(request.url === '/v1/embeddings' ? embed(body.input as string[]) : judge(body.input)),
      );
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const baseURL = `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
    try {
      const { code, stdout, stderr } = await run([notes, question], { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: baseURL });
      assert.equal(code, 0, stderr);
      // One request each for the documents, the query and the twenty passages.
      assert.deepEqual(asked, ['/v1/embeddings', '/v1/embeddings', '/v1/responses']);
      assert.match(stdout, /\n1\. .*tea\.md › Tea › Milk/);
    } finally {
      api.close();
    }
  });

  test('prints a one-line error message and exits with code 1', async () => {
    for (const [words, line] of [
      [[join(scratch, 'nowhere')], /nowhere/],
      [['--color'], /--color/],
    ] as const) {
      const { code, stderr } = await run([...words]);
      assert.equal(code, 1);
      assert.match(stderr, line);
    }
    await mkdir(join(scratch, 'empty'));
    assert.match((await run([join(scratch, 'empty')])).stderr, /empty contains no readable documents/);
  });
});

function embed(input: string[]): object {
  const data = input.map((value, index) => ({ object: 'embedding', index, embedding: [value.length, 1, 2] }));
  return { object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

/** A scoring model that gives passages about milk the highest score. */
function judge(input: unknown): object {
  const { content } = (input as { content: string | { text: string }[] }[]).at(-1) ?? { content: '' };
  const asked = typeof content === 'string' ? content : (content[0]?.text ?? '');
  const { passages } = JSON.parse(asked) as { passages: { passage: number; text: string }[] };
  const scores = passages.map((entry) => ({ passage: entry.passage, score: entry.text.includes('Milk') ? 1 : 0 }));
  const parts = [{ type: 'output_text', text: JSON.stringify({ scores }), annotations: [] }];
  const output = [{ type: 'message', role: 'assistant', id: 'm', content: parts }];
  return { id: 'x', created_at: 1, model: 'm', output, usage: { input_tokens: 1, output_tokens: 1 } };
}
