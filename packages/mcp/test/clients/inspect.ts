import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scratchFolder } from '../scratch-folder.js';

const program = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

/** Runs the Inspector's command line in a separate home folder; prints the result of the method. */
export async function inspect(...args: string[]): Promise<{ [key: string]: unknown }> {
  const HOME = scratchFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--cli', ...args], {
    env: { ...process.env, HOME },
  });
  return JSON.parse(stdout) as { [key: string]: unknown };
}
