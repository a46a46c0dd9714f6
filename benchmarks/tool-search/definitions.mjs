// Definitions of the tools of published servers. They are listed by the servers themselves and kept in a cache outside of the repository.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MCPClient } from '@quiver/mcp';
import { installPackages } from '../install-packages.mjs';
import { servers } from './servers.mjs';

export const defaultCache = process.env.QUIVER_TOOLS_CACHE ?? join(homedir(), '.cache', 'quiver-tool-search');

/** A server that lists nothing within this time has failed. */
const TIMEOUT_MS = 60_000;
/** Heap of a server. */
const HEAP_MB = 512;

/**
 * Returns the definitions of all servers by `<server>_<tool>`; each has the field `server`. Servers that are not in the cache are
 * installed without their install scripts and started one after the other.
 *
 * @throws if a server cannot be installed or lists no tools
 */
export async function readDefinitions(cache) {
  const missing = servers.filter((server) => !existsSync(fileOf(cache, server)));
  if (missing.length > 0) await listTools(cache, missing);
  return Object.fromEntries(
    servers.flatMap((server) =>
      JSON.parse(readFileSync(fileOf(cache, server), 'utf8')).map((tool) => [
        `${server.name}_${tool.name}`,
        { ...tool, server: server.name },
      ]),
    ),
  );
}

function fileOf(cache, { from }) {
  return join(cache, `${from.replaceAll('/', '+')}.json`);
}

async function listTools(cache, missing) {
  console.error(`Installing ${missing.length} servers ...`);
  const { folder, remove } = installPackages(['--legacy-peer-deps', ...missing.map(({ from }) => from)]);
  try {
    for (const server of missing) {
      const tools = await listOne(server, folder);
      console.error(`${server.from}: ${tools.length} tools`);
      mkdirSync(cache, { recursive: true });
      writeFileSync(fileOf(cache, server), JSON.stringify(tools));
    }
  } finally {
    remove();
  }
}

async function listOne({ name, from, args = [], env = {} }, folder) {
  const program = programOf(join(folder, 'node_modules', from.slice(0, from.lastIndexOf('@'))));
  const command = {
    command: process.execPath,
    args: [`--max-old-space-size=${HEAP_MB}`, program, ...args],
    env: { HOME: folder, ...env },
    cwd: folder,
  };
  await using mcp = new MCPClient({ id: `tool-search-${name}`, servers: { [name]: command }, timeout: TIMEOUT_MS });
  return (await mcp.listToolDefinitions())[name];
}

/** Returns the file of the first program of a package. */
function programOf(folder) {
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : Object.values(bin)[0]);
}
