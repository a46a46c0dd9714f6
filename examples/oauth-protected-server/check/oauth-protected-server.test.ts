import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { visit } from '../src/visit.ts';

/** Runs a program of the example with the Node options of this process and calls a listener for every line of output. */
async function run(
  program: string,
  args: string[] = [],
  onLine: (line: string) => void = () => {},
): Promise<{ code: number; lines: string[] }> {
  const main = fileURLToPath(new URL(`../src/${program}`, import.meta.url));
  const child = spawn(
    process.execPath,
    [...process.execArgv.filter((arg) => !arg.startsWith('--test')), main, ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines: string[] = [];
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk.toString()}`.split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts.filter((part) => !part.includes('oidc-provider'))) {
      lines.push(line);
      onLine(line);
    }
  });
  const code = await new Promise<number>((resolve) => child.on('close', resolve));
  return { code, lines };
}

const story = [
  'Without a token: 401',
  'Signed in.',
  'Notes: {"user":"ada","notes":[]}',
  'Notes: {"user":"ada","notes":["Water the plants"]}',
];

test('signs in, reads, requests another scope, and writes', async () => {
  const { code, lines } = await run('main.ts');
  assert.deepEqual(lines, story);
  assert.equal(code, 0);
});

test('waits with --browser until the user opens the printed pages', async () => {
  const { code, lines } = await run('main.ts', ['--browser'], (line) => {
    const page = /^Please visit (\S+)$/.exec(line)?.[1];
    if (page !== undefined) void visit(new URL(page));
  });
  assert.deepEqual(
    lines.filter((line) => !line.startsWith('Please visit')),
    story,
  );
  assert.equal(lines.length, story.length + 2);
  assert.equal(code, 0);
});

test('one client serves users who have each signed in', async () => {
  const { code, lines } = await run('many-users.ts');
  assert.deepEqual(lines, [
    'ada, notes_listNotes: {"user":"ada","notes":[]}',
    'bob, notes_listNotes: {"user":"bob","notes":[]}',
    'ada, notes_addNote: "{\\"added\\":true}"',
    'ada, notes_listNotes: {"user":"ada","notes":["Water the plants"]}',
    'bob, notes_listNotes: {"user":"bob","notes":[]}',
  ]);
  assert.equal(code, 0);
});
