import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { QuiverError } from '@quiver/core';
import { booleanValue, checkOptions, functionValue, type OptionChecks, stringValue } from '@quiver/core/internal';
import type { MDocument } from '@quiver/rag/document';
import { loadDocuments, loadDocumentsChecks, type LoadDocumentsOptions } from '../files/load-documents.js';

/** Options of `loadRepository()`. */
export interface LoadRepositoryOptions extends Omit<LoadDocumentsOptions, 'cache'> {
  /** Branch or tag of a remote repository. Default: its main branch. A folder is read as it is checked out. */
  ref?: string;
  /**
   * Whether every document has the id of the commit as `metadata.commit`. Default `false`: the metadata is part of a chunk's id, so that
   * every commit would store and embed every chunk again.
   */
  commitMetadata?: boolean;
  /** Called with the commit before its first document. */
  onCheckout?: (checkout: { commit: string; folder: string }) => void;
}

const { cache: _cache, ...loadChecks } = loadDocumentsChecks;
const checks: OptionChecks<LoadRepositoryOptions> = {
  ref: stringValue,
  commitMetadata: booleanValue,
  onCheckout: functionValue,
  ...loadChecks,
};

/**
 * Reads the documents of a Git repository as `loadDocuments()` does: of a folder that is checked out, or of a remote repository, whose
 * latest commit is cloned into a temporary folder and removed afterwards. It runs the program `git`, with the credentials that it finds,
 * without prompts, hooks, submodules and symbolic links.
 *
 * Pass trusted URLs only: `git` connects to any address, also of a private network.
 *
 * @param repository - path of a folder, URL with `https`, `ssh` or `file`, or `user@host:path`
 * @throws `GIT_ARGUMENT_INVALID`, also for an unknown option; `GIT_FAILED` with the message of `git`; the errors of {@link loadDocuments}; the abort reason
 * @example
 * const documents = loadRepository('https://github.com/org/docs.git', { include: ['**\/*.md'] });
 * await ingest({ documents, store, indexName: 'docs', embedder, scope: { repository: 'org/docs' } });
 */
export async function* loadRepository(
  repository: string,
  options: LoadRepositoryOptions = {},
): AsyncGenerator<MDocument> {
  checkOptions('loadRepository', options, checks, { code: 'GIT_ARGUMENT_INVALID' });
  const { ref, commitMetadata = false, onCheckout, ...load } = options;
  const { signal } = load;
  signal?.throwIfAborted();
  if (typeof repository !== 'string') throw invalidRepository(String(repository));
  const isFolder = await stat(repository).then(
    (found) => found.isDirectory(),
    () => false,
  );
  checkArguments(repository, isFolder, ref);
  const temporary = isFolder ? undefined : await mkdtemp(join(tmpdir(), 'quiver-git-'));
  const folder = temporary ?? resolve(repository);
  try {
    if (temporary !== undefined) {
      const branch = ref === undefined ? [] : ['--branch', ref];
      const shallow = ['--depth', '1', '--single-branch', '--no-tags', '--no-recurse-submodules', '--quiet'];
      await git([...safeSettings, 'clone', ...shallow, ...branch, '--', repository, temporary], signal);
    }
    const commit = (await git(['-C', folder, 'rev-parse', 'HEAD'], signal)).trim();
    onCheckout?.({ commit, folder });
    yield* loadDocuments(folder, commitMetadata ? { ...load, metadata: { ...load.metadata, commit } } : load);
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A repository must neither run programs nor create links out of its folder. */
const safeSettings = ['core.hooksPath=/dev/null', 'core.symlinks=false', 'core.fsmonitor=false'].flatMap((setting) => [
  '-c',
  setting,
]);

function checkArguments(repository: string, isFolder: boolean, ref: string | undefined): void {
  const isUrl = /^(?:https|ssh|file):\/\/[^-]/.test(repository) || /^[\w.]+@[\w][\w.-]*:[^-]/.test(repository);
  if (!isFolder && !isUrl) throw invalidRepository(repository);
  if (ref === undefined) return;
  if (isFolder)
    throw refuse('ref selects a branch of a remote repository. Check it out in the folder, or pass the URL.');
  if (!/^[\w][\w./@+-]*$/.test(ref)) throw refuse(`'${ref}' is not the name of a branch or tag.`);
}

function refuse(message: string): QuiverError {
  return new QuiverError('GIT_ARGUMENT_INVALID', message);
}

function invalidRepository(repository: string): QuiverError {
  return refuse(
    `'${redact(repository)}' is neither a folder nor the URL of a repository. Pass a path, a URL with https, ssh or file, or user@host:path.`,
  );
}

const run = promisify(execFile);

async function git(args: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  try {
    const { stdout } = await run('git', args, {
      ...(signal && { signal }),
      env: {
        GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
        ...process.env,
        GIT_TERMINAL_PROMPT: '0',
        GIT_ALLOW_PROTOCOL: 'https:ssh:file',
        GIT_LFS_SKIP_SMUDGE: '1',
      },
    });
    return stdout;
  } catch (cause) {
    signal?.throwIfAborted();
    const { code, stderr } = cause as { code?: unknown; stderr?: string };
    const problem = code === 'ENOENT' ? 'the program git is not installed' : (stderr ?? '').trim() || 'it was stopped';
    throw new QuiverError('GIT_FAILED', `git could not read the repository: ${redact(problem).slice(0, 1000)}`, {
      // Without the cause: its command line may contain credentials.
      details: { exitCode: code },
    });
  }
}

/** Removes credentials from URLs. */
function redact(text: string): string {
  return text.replace(/\/\/[^\s/]*@/g, '//');
}
