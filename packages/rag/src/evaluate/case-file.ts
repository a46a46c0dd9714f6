import { readFile } from 'node:fs/promises';
import { replaceFile, invalidOptions } from '@quiver/core/internal';
import { checkCase, checkCases, type RetrievalCase } from './cases.js';

/**
 * Reads cases from a file of JSON Lines: one {@link RetrievalCase} per line.
 *
 * @throws `OPTIONS_INVALID` with the line that is not a case; errors of the file system
 * @example
 * const cases = await readCases('cases.jsonl');
 */
export async function readCases(path: string): Promise<RetrievalCase[]> {
  const lines = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const what = `Line ${index + 1} of '${path}'`;
    const value = parseLine(line, what);
    checkCase(value, what);
    return [value];
  });
}

/**
 * Writes cases as JSON Lines, for {@link readCases}. An existing file is replaced as a whole.
 *
 * @throws `OPTIONS_INVALID` for invalid cases; errors of the file system
 * @example
 * await writeCases('cases.jsonl', [{ question: 'How do I install it?', relevant: [{ quote: 'npm install' }] }]);
 */
export async function writeCases(path: string, cases: readonly RetrievalCase[]): Promise<void> {
  const lines = checkCases(cases).map((one) => `${JSON.stringify(one)}\n`);
  await replaceFile(path, lines.join(''));
}

function parseLine(line: string, what: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalidOptions(`${what} is not JSON: ${(cause as Error).message}`);
  }
}
