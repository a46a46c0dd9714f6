import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a separate temporary folder for a test run. Deletes it afterwards, including the files of tests and their child processes. */
export default function setup(): () => void {
  const before = process.env['TMPDIR'];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quiver-tests-')));
  process.env['TMPDIR'] = folder;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
