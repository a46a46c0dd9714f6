import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MDocument } from '@quiver/rag/document';
import { loadRepository, type LoadRepositoryOptions } from './load-repository.js';

let root: string;
let repository: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quiver-repository-'));
  repository = join(root, 'origin');
  await mkdir(join(repository, 'docs'), { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rm(root, { recursive: true, force: true }));

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', ['-C', repository, ...identity, ...args], { encoding: 'utf8' }).trim();
}

async function commit(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) await writeFile(join(repository, path), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Change');
  return git('rev-parse', 'HEAD');
}

async function load(from: string, options: LoadRepositoryOptions = {}): Promise<MDocument[]> {
  const documents: MDocument[] = [];
  for await (const document of loadRepository(from, options)) documents.push(document);
  return documents;
}

const entries = (documents: readonly MDocument[]): unknown[] =>
  documents.map(({ sources: [source] }) => [source?.metadata['source'], source?.text]);

describe('loadRepository', () => {
  test('reads the latest commit of a remote repository, and removes its copy', async () => {
    await commit({ 'README.md': 'old', 'docs/a.md': 'A' });
    const latest = await commit({ 'README.md': 'new' });
    let checkout: { commit: string; folder: string } | undefined;
    const documents = await load(pathToFileURL(repository).href, { onCheckout: (found) => (checkout = found) });
    expect(entries(documents)).toEqual([
      ['README.md', 'new'],
      ['docs/a.md', 'A'],
    ]);
    expect(checkout?.commit).toBe(latest);
    await expect(readdir(checkout!.folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('reads a branch or a tag', async () => {
    await commit({ 'README.md': 'first' });
    git('tag', 'v1');
    git('checkout', '--quiet', '-b', 'next');
    await commit({ 'README.md': 'next' });
    git('checkout', '--quiet', 'main');
    await commit({ 'README.md': 'main' });
    const url = pathToFileURL(repository).href;
    expect(entries(await load(url, { ref: 'v1' }))).toEqual([['README.md', 'first']]);
    expect(entries(await load(url, { ref: 'next' }))).toEqual([['README.md', 'next']]);
    expect(entries(await load(url))).toEqual([['README.md', 'main']]);
    await expect(load(url, { ref: 'none' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });

  test('reads a folder as it is checked out, with the commit on request', async () => {
    const id = await commit({ 'README.md': 'text' });
    expect((await load(repository))[0]?.sources[0]?.metadata).toEqual({ source: 'README.md' });
    const [document] = await load(repository, { commitMetadata: true, metadata: { team: 'docs' } });
    expect(document?.sources[0]?.metadata).toEqual({ source: 'README.md', commit: id, team: 'docs' });
    expect(entries(await load(repository, { include: ['docs/**'] }))).toEqual([]);
    await expect(load(repository, { ref: 'main' })).rejects.toMatchObject({ code: 'GIT_ARGUMENT_INVALID' });
  });

  test('does not follow links out of the repository', async () => {
    await writeFile(join(root, 'secret.md'), 'secret');
    await symlink(join(root, 'secret.md'), join(repository, 'link.md'));
    await commit({ 'README.md': 'text' });
    const texts = (await load(pathToFileURL(repository).href)).flatMap((document) => document.getText());
    expect(texts).toContain('text');
    expect(texts).not.toContain('secret');
  });

  test.each([
    '--upload-pack=touch /tmp/x',
    'ext::sh -c true',
    'http://example.com/x.git',
    'https://-oProxyCommand=x/',
    'git@-x:y',
    'git@host:-x',
    'no-such-folder',
    '',
    undefined,
    new URL('file:///docs'),
  ])('rejects the repository %j', async (url) => {
    await expect(load(url as string)).rejects.toMatchObject({ code: 'GIT_ARGUMENT_INVALID' });
  });

  test.each(['--upload-pack=x', '-b', 'a b', ''])('rejects the ref %j', async (ref) => {
    await expect(load(pathToFileURL(repository).href, { ref })).rejects.toMatchObject({ code: 'GIT_ARGUMENT_INVALID' });
  });

  test('rejects unknown options before it clones', async () => {
    await expect(load('file:///missing', { branch: 'next' } as LoadRepositoryOptions)).rejects.toMatchObject({
      code: 'GIT_ARGUMENT_INVALID',
      message: expect.stringMatching(/^loadRepository has no option 'branch'\. Its options are: ref, /),
    });
  });

  test('reports a repository that cannot be read, without credentials', async () => {
    const missing = pathToFileURL(join(root, 'missing')).href.replace('file://', 'file://user:token@');
    const error = await load(missing).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'GIT_FAILED' });
    expect(JSON.stringify(error) + String(error)).not.toContain('token');
  });

  test('stops for the signal', async () => {
    await expect(load(repository, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
