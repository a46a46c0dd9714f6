import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

const anchors = {
  mastra1: { client: 'mastra.mjs', packages: ['@mastra/mcp@1.18.0', '@mastra/core@1.71.0', 'zod@4.6.7'] },
  mastra2: { client: 'mastra.mjs', packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', 'zod@4.6.7'] },
  'ai-sdk': { client: 'ai-sdk.mjs', packages: ['@ai-sdk/mcp@2.0.99', 'zod@4.6.7'] },
};

/** Other people's clients, pinned and without install scripts, in a temporary folder that `remove` deletes. */
export function installClients() {
  const root = mkdtempSync(join(tmpdir(), 'quiver-clients-'));
  const folderOf = {};
  for (const [name, { client, packages }] of Object.entries(anchors)) {
    const folder = join(root, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    copyFileSync(join(here, client), join(folder, client));
    folderOf[name] = folder;
  }
  return { folderOf, remove: () => rmSync(root, { recursive: true, force: true }) };
}
