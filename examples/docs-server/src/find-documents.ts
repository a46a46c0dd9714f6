import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { repository } from './arguments.ts';
import { ExpectedError } from './expected-error.ts';

/** A Markdown file: the path for citations, and the text. */
interface SourceFile {
  path: string;
  text: string;
}

export interface FoundDocuments {
  /** Folder that the paths of `files` are relative to. */
  root: string;
  files: SourceFile[];
  /** Files with a Markdown extension that are not text, with the reason. */
  skipped: string[];
}

/** Reads the Markdown files of a folder, or, without one, of this repository and its installed dependencies. */
export async function findDocuments(folder: string | undefined): Promise<FoundDocuments> {
  const root = folder ?? repository;
  const paths = folder === undefined ? await ownDocuments() : await markdownBelow(root);
  const found: FoundDocuments = { root, files: [], skipped: [] };
  for (const path of paths.toSorted()) {
    const name = relative(root, path).split(sep).join('/');
    const text = decode(await readFile(path));
    if (text === undefined) found.skipped.push(`${name}: not text in UTF-8`);
    else if (text.trim() !== '') found.files.push({ path: name, text });
  }
  if (found.files.length === 0) {
    const reason = found.skipped.length > 0 ? ` (${found.skipped.join('; ')})` : '';
    throw new ExpectedError(`There is no Markdown to read in ${root}${reason}.`);
  }
  return found;
}

async function markdownBelow(folder: string): Promise<string[]> {
  const details = await stat(folder).catch(() => {
    throw new ExpectedError(`The folder ${folder} does not exist or cannot be read.`);
  });
  if (details.isFile()) return [folder];
  return walk(folder, (entry) => entry.name !== 'node_modules' && !entry.name.startsWith('.'));
}

/** Lists of errors and tests. Their many short entries name what the guides explain. */
const lists: ReadonlySet<string> = new Set(['docs/reference/errors.md', 'docs/reference/security-checks.md']);

/** Returns the Markdown files of the repository and the READMEs of its dependencies, which pnpm stores once in `node_modules/.pnpm`. */
async function ownDocuments(): Promise<string[]> {
  const own = await walk(
    repository,
    (entry) => !['node_modules', 'dist'].includes(entry.name) && !entry.name.startsWith('.'),
  );
  const store = join(repository, 'node_modules', '.pnpm');
  const dependencies = await walk(
    store,
    (entry, depth) => depth < 4 && !(depth === 0 && entry.name === 'node_modules'),
  );
  const guides = own.filter((path) => !lists.has(relative(repository, path).split(sep).join('/')));
  return [...guides, ...dependencies.filter((path) => /readme\.md$/i.test(path))];
}

async function walk(folder: string, enter: (entry: Dirent, depth: number) => boolean, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return enter(entry, depth) ? walk(path, enter, depth + 1) : [];
      return entry.isFile() && /\.(md|markdown)$/i.test(entry.name) ? [path] : [];
    }),
  );
  return nested.flat();
}

/** Returns the text, or `undefined` for bytes that are not UTF-8 text. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
