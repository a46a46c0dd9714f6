import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder, gone when the test run is over. */
export function scratchFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'quiver-')));
}
