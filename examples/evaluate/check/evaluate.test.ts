import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
let scratch: string;

before(async () => void (scratch = await mkdtemp(join(tmpdir(), 'quiver-evaluate-'))));
after(() => rm(scratch, { recursive: true, force: true }));

async function run(words: string[], data?: string) {
  const { QUIVER_DATA: _folder, ...inherited } = process.env;
  const env = { ...inherited, ...(data !== undefined && { QUIVER_DATA: data }) };
  const child = spawn(process.execPath, [main, ...words], { cwd: scratch, env });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

const toLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('evaluate example', () => {
  test('measures the decision records of the repository and writes the report', async () => {
    const { code, stdout, stderr } = await run([]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^decision records: \d+ documents, 22 questions\n.*\n.* recallAt5 /);
    for (const name of ['keyword', 'hybrid', 'graph']) assert.match(stdout, new RegExp(`\n│ ${name} `));
    const report = await readFile(join(scratch, 'evaluation.html'), 'utf8');
    assert.match(report, /How does a process acquire the file lock\?/);
  });

  test('measures a test collection, and fails below the least recall', async () => {
    const folder = join(scratch, 'data', 'small');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'docs.jsonl'),
      toLines([
        { id: '1', title: 'Tea', text: 'Green tea wants water of 80 degrees.' },
        { id: '2', title: 'Ships', text: 'A brig has two masts.' },
      ]),
    );
    await writeFile(join(folder, 'queries.jsonl'), toLines([{ id: 'a', text: 'How hot is water for tea?' }]));
    const judge = (doc: string) => writeFile(join(folder, 'qrels.jsonl'), toLines([{ query: 'a', doc, gain: 1 }]));
    await judge('1');
    const words = ['--collection', 'small', '--report', 'small.html'];
    const found = await run(words, join(scratch, 'data'));
    assert.equal(found.code, 0, found.stderr);
    assert.match(found.stdout, /^small: 2 documents, 1 questions[^]*│ keyword +│ '1\.000/);
    await judge('2');
    const missed = await run(words, join(scratch, 'data'));
    assert.equal(missed.code, 1);
    assert.match(missed.stderr, /recallAt5 of keyword search is 0, below 0\.5/);
    await judge('3');
    const wrong = await run(words, join(scratch, 'data'));
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /does not contain what 1 cases need: 'How hot is water for tea\?' needs '3'/);
  });
});
