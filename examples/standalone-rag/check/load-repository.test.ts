import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadRepository } from '../src/load-repository.ts';

test('a repository is read at its latest commit or a tag, without links', async () => {
  const origin = await mkdtemp(join(tmpdir(), 'quiver-origin-'));
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) => execFileSync('git', ['-C', origin, ...identity, ...args]);
  const read = async (options = {}) => {
    const texts = [];
    for await (const { sources } of loadRepository(pathToFileURL(origin).href, options)) texts.push(sources[0]?.text);
    return texts;
  };
  try {
    git('init', '--quiet', '--initial-branch=main');
    await writeFile(join(origin, 'a.md'), 'old');
    await symlink('/etc/hostname', join(origin, 'link.md'));
    git('add', '--all');
    git('commit', '--quiet', '--message', 'One');
    git('tag', 'v1');
    await writeFile(join(origin, 'a.md'), 'new');
    git('commit', '--quiet', '--all', '--message', 'Two');
    assert.deepEqual(await read({ include: ['a.md'] }), ['new']);
    assert.deepEqual(await read({ include: ['a.md'], ref: 'v1' }), ['old']);
    // The link is a file with the path that it leads to.
    assert.deepEqual(await read({ include: ['link.md'] }), ['/etc/hostname']);
    for (const [url, ref] of [['--upload-pack=touch'], ['ext::sh -c touch'], [pathToFileURL(origin).href, '--help']])
      await assert.rejects(loadRepository(url!, ref ? { ref } : {}).next(), /is not/);
    await assert.rejects(read({ ref: 'none' }), /Remote branch none not found/);
  } finally {
    await rm(origin, { recursive: true, force: true });
  }
});
