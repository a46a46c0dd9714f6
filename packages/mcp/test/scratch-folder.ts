import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder that is gone when the process is. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quiver-')));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
