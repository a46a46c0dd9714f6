import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const usage = 'npm run demo -- [folder] ["question" ...] [--index <folder>] [--port <number>]';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Defaults of the demo: the documents of this repository. */
const own = {
  folder: repository,
  include: ['*.md', 'docs/**/*.md', '{packages,examples}/*/README.md'],
  exclude: ['node_modules', '.*', 'docs/reference/{api/**,security-checks.md}'],
  questions: [
    'How do I ask the user before a tool deletes something?',
    'How do I rate limit the callers of a server?',
    'How do I add a server to Claude Desktop or Cursor?',
    // A part of its answer is on a page that shares hardly any words with it. A link leads there.
    'How do several instances of a server share state, and what goes wrong?',
  ],
};

export interface Arguments {
  folder: string;
  /** Patterns of the files to read. Default: every format that `loadDocuments` reads. */
  patterns: { include?: string[]; exclude?: string[] };
  questions: string[];
  /** Folder of the index. */
  indexFolder: string;
  /** Port of the server. 0 selects a free port. */
  port: number;
  help: boolean;
}

/** @throws an error whose message names an unknown option */
export function parseArguments(words: string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { index: { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const [given, ...questions] = positionals;
  const folder = resolve(given ?? own.folder);
  const name = `${basename(folder)}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
  return {
    folder,
    patterns: given === undefined ? { include: own.include, exclude: own.exclude } : {},
    questions: questions.length > 0 ? questions : given === undefined ? own.questions : ['What is this about?'],
    indexFolder: resolve(values.index ?? join(repository, '.quiver', name)),
    port: Number(values.port ?? 0),
    help: values.help ?? false,
  };
}
