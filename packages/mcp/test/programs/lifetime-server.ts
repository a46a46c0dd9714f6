// A server over stdio that something keeps alive: `timer`, `call` (a tool that ignores its abort signal), `gateway` (two child servers),
// `silent-store` (a shared store that does not answer after the end of the input), `stuck` (nothing that the end waits for ends) or `kept`
// (`exitOnDisconnect: false`). It writes what happens to standard error.
import { createTool } from '@quiver/core/tools';
import { InMemoryStore, type SharedStore } from '@quiver/mcp';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { audit } from '../servers/audit.ts';
import { commandFor } from './spawn-server.ts';

const report = (text: string): void => void process.stderr.write(`${text}\n`);
const mode = process.argv[2];
setInterval(() => {}, 1000);

const wait = createTool({
  id: 'wait',
  description: 'Waits',
  execute: (_input, { mcp }) => {
    mcp?.extra?.signal?.addEventListener('abort', () => report('aborted'));
    report('started');
    return new Promise<string>(() => {});
  },
});
const upstream = mode === 'gateway' ? createGateway() : undefined;
const never = new Promise<void>(() => {});
const server = new MCPServer({
  name: 'Lifetime',
  version: '1.0.0',
  tools: { wait, ...(await upstream?.listTools()) },
  ...(mode === 'silent-store' && { sharedStore: createSilentStore() }),
});
server.use(
  audit(async ({ name }) => {
    if (name) report(`audited ${name}`);
    if (mode === 'stuck') await never;
  }),
);
server.onClose(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  report('closed');
  if (mode === 'stuck') await never;
});
process.on('exit', (code) => report(`exit ${code}`));
if (mode === 'kept') process.stdin.on('end', () => report('end'));
await server.startStdio(mode === 'kept' ? { exitOnDisconnect: false } : {});

/** A store whose operations never settle after the end of the input. */
function createSilentStore(): SharedStore {
  let isSilent = false;
  process.stdin.once('end', () => (isSilent = true));
  return new Proxy(new InMemoryStore(), {
    get(store, name) {
      // Every member of a store is a function.
      const operation = Reflect.get(store, name) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => (isSilent ? never : operation.apply(store, args));
    },
  });
}

function createGateway(): MCPClient {
  const servers = { a: commandFor('lifetime-server.ts', 'timer'), b: commandFor('lifetime-server.ts', 'timer') };
  return new MCPClient({ servers: { a: { ...servers.a, stderr: 'inherit' }, b: { ...servers.b, stderr: 'inherit' } } });
}
