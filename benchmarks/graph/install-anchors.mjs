import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = ['@mastra/rag@2.6.4', '@mastra/core@1.71.0', 'zod@4.6.7'];

/** Mastra's GraphRAG, pinned and without install scripts, from a temporary folder that `remove` deletes. */
export async function installAnchors() {
  const folder = mkdtempSync(join(tmpdir(), 'quiver-anchors-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // Found from there, not from here.
  const entry = join(folder, 'entry.mjs');
  writeFileSync(entry, "export { GraphRAG } from '@mastra/rag';\n");
  const { GraphRAG } = await import(pathToFileURL(entry).href);
  return { GraphRAG, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
