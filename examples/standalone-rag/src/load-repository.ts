// The documents of a Git repository: its latest commit is cloned into a temporary folder, which is removed after the last document.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadDocuments, type LoadDocumentsOptions } from '@quiver/loaders';
import type { MDocument } from '@quiver/rag';

/** A repository must neither run programs nor create links out of its folder. */
const safe = ['core.hooksPath=/dev/null', 'core.symlinks=false', 'core.fsmonitor=false'].flatMap((one) => ['-c', one]);
const shallow = ['--depth', '1', '--single-branch', '--no-tags', '--no-recurse-submodules', '--quiet'];
const run = promisify(execFile);

/**
 * Reads a repository by the program `git`, with the credentials that it finds, without prompts.
 *
 * @param url - with `https`, `ssh` or `file`, and trusted: `git` connects to any address
 * @param ref - branch or tag. Default: the main branch
 */
export async function* loadRepository(
  url: string,
  { ref, ...options }: LoadDocumentsOptions & { ref?: string } = {},
): AsyncGenerator<MDocument> {
  if (!/^(?:https|ssh|file):\/\/[^-]/.test(url)) throw new Error(`${url} is not a URL with https, ssh or file.`);
  if (ref !== undefined && !/^\w[\w./@+-]*$/.test(ref)) throw new Error(`${ref} is not the name of a branch or tag.`);
  const folder = await mkdtemp(join(tmpdir(), 'repository-'));
  const env = {
    ...process.env,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
  try {
    const branch = ref === undefined ? [] : ['--branch', ref];
    await run('git', [...safe, 'clone', ...shallow, ...branch, '--', url, folder], { env });
    yield* loadDocuments(folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
