import { createReadStream } from 'node:fs';

/**
 * The lines of a file in UTF-8, without their ends. Only a line feed ends a line: JSON may hold the other characters that `node:readline`
 * takes for one.
 */
export async function* readLines(path: string): AsyncGenerator<string, void> {
  let rest = '';
  for await (const text of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + String(text)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
