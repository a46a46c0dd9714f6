import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('an index follows a folder', { timeout: 60_000 }, async () => {
  const work = await mkdtemp(join(tmpdir(), 'quiver-sync-'));
  const folder = await mkdtemp(join(work, 'notes-'));
  await writeFile(join(folder, 'a.md'), '# A\n\nText of a.');
  await writeFile(join(folder, 'b.pdf'), 'no PDF');
  const program = fileURLToPath(new URL('../src/sync-folder.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, folder, join(work, 'index')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => (await lines.next()).value as string;
    assert.equal(await next(), '1 added, 0 unchanged, 0 removed, skipped b.pdf (unreadable)');
    await writeFile(join(folder, 'c.md'), '# C\n\nText of c.');
    assert.equal(await next(), '1 added, 1 unchanged, 0 removed, skipped b.pdf (unreadable)');
    await rm(join(folder, 'a.md'));
    await rm(join(folder, 'b.pdf'));
    assert.equal(await next(), '0 added, 1 unchanged, 1 removed, nothing skipped');
  } finally {
    child.kill('SIGKILL');
    await rm(work, { recursive: true, force: true });
  }
});
