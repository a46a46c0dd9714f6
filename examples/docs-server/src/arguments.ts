import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ExpectedError } from './expected-error.ts';

export const repository: string = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

export const usage = `npm run demo -- [folder] ["question" ...] [--index <folder>] [--port <number>]

Without a folder: the documentation of this repository and the README files of its dependencies.`;

export interface Arguments {
  /** Folder to read. `undefined` means the repository's own documents. */
  folder: string | undefined;
  questions: string[];
  /** Folder of the index. */
  indexFolder: string;
  /** Port of the server. 0 selects a free port. */
  port: number;
  help: boolean;
}

const ownQuestions = [
  'How do I require approval of a tool call?',
  'How do I rate limit the callers of a server?',
  'How do I add a server to Claude Desktop or Cursor?',
];

export function parseArguments(words: string[]): Arguments {
  const { values, positionals } = parseStrictly(words);
  const [given, ...questions] = positionals;
  const folder = given === undefined ? undefined : resolve(given);
  const port = Number(values.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ExpectedError(`--port ${values.port} is not a port number.`);
  const source = folder ?? repository;
  const name = `${basename(source)}-${createHash('sha256').update(source).digest('hex').slice(0, 8)}`;
  return {
    folder,
    questions: questions.length > 0 ? questions : folder === undefined ? ownQuestions : ['What is this about?'],
    indexFolder: resolve(values.index ?? join(repository, '.quiver', name)),
    port,
    help: values.help ?? false,
  };
}

function parseStrictly(words: string[]) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: { index: { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new ExpectedError(`${(error as Error).message}\n${usage}`);
  }
}
