import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.mjs';

const anchors = {
  mastra1: {
    server: 'mastra.mjs',
    packages: ['@mastra/mcp@1.18.0', '@mastra/core@1.71.0', 'jose@6.2.18', 'zod@4.6.7'],
    modes: ['sessions', 'stateless', 'stdio', 'static', 'jwt'],
  },
  mastra2: {
    server: 'mastra.mjs',
    packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', 'zod@4.6.7'],
    modes: ['modern'],
  },
  fastmcp: {
    server: 'fastmcp.mjs',
    packages: ['fastmcp@4.20.16', 'jose@6.2.18', 'zod@4.6.7'],
    modes: ['sessions', 'stateless', 'stdio', 'static', 'jwt'],
  },
  // The official SDKs check tokens in a middleware for express, which the benchmarks do not depend on.
  sdk1Express: {
    server: 'sdk1.mjs',
    packages: ['@modelcontextprotocol/sdk@1.32.2', 'express@5.3.0', 'jose@6.2.18', 'zod@4.6.7'],
    modes: ['static', 'jwt'],
  },
  sdk2Express: {
    server: 'sdk2.mjs',
    packages: [
      '@modelcontextprotocol/server@2.4.0',
      '@modelcontextprotocol/node@2.1.2',
      '@modelcontextprotocol/express@2.0.2',
      'express@5.3.0',
      'jose@6.2.18',
      'zod@4.6.7',
    ],
    modes: ['static', 'jwt'],
  },
};
const urlOf = (name) => new URL(`servers/${name}`, import.meta.url);

/** Installs third-party servers; `remove` deletes them. */
export function installAnchors() {
  const installed = Object.entries(anchors).map(([name, { server, packages, modes }]) => {
    const { folder, remove } = installPackages(packages, [urlOf('process.mjs'), urlOf('tokens.mjs')]);
    copyFileSync(fileURLToPath(urlOf(server)), join(folder, `${name}.mjs`));
    return { name, system: { folder, modes }, remove };
  });
  return {
    // SDK 2 is a development dependency: it is no anchor of short runs, but needs no installation.
    systems: {
      sdk2: { modes: ['sessions', 'stateless', 'modern', 'stdio'] },
      ...Object.fromEntries(installed.map(({ name, system }) => [name, system])),
    },
    remove: () => installed.forEach(({ remove }) => remove()),
  };
}
