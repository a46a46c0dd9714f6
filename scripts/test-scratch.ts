import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives a test run a temporary folder of its own, which is deleted with all that tests and their child processes left in it. */
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
