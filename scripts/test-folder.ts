import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder in the temporary folder of the test run, which is deleted after the run. */
export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'folder-'));
