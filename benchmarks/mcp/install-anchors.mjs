import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

const anchors = {
  mastra1: {
    packages: ['@mastra/mcp@1.18.0', '@mastra/core@1.71.0', 'zod@4.6.7'],
    modes: ['sessions', 'stateless', 'stdio'],
  },
  mastra2: { packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', 'zod@4.6.7'], modes: ['modern'] },
  fastmcp: { packages: ['fastmcp@4.20.16', 'zod@4.6.7'], modes: ['sessions', 'stateless', 'stdio'] },
};

/** Other people's servers, pinned and without install scripts, in a temporary folder that `remove` deletes. */
export function installAnchors() {
  const root = mkdtempSync(join(tmpdir(), 'quiver-anchors-'));
  const systems = {};
  for (const [name, { packages, modes }] of Object.entries(anchors)) {
    const folder = join(root, name);
    execFileSync('mkdir', [folder]);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const source = name.startsWith('mastra') ? 'mastra.mjs' : 'fastmcp.mjs';
    copyFileSync(join(here, 'servers', source), join(folder, `${name}.mjs`));
    copyFileSync(join(here, 'servers/process.mjs'), join(folder, 'process.mjs'));
    systems[name] = { folder, modes };
  }
  return { systems, remove: () => rmSync(root, { recursive: true, force: true }) };
}
