import { fork } from 'node:child_process';
import { once } from 'node:events';
import { serverFile } from './processes.mjs';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

function start({ name, folder }) {
  const child = fork(serverFile(name, folder), ['stdio', '10'], {
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  return {
    ...pipeTo(child),
    /** Microseconds of CPU time of the server. */
    cpu: async () => {
      child.send({ ask: 'usage' });
      const [{ cpu }] = await once(child, 'message');
      return cpu;
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/** Writes messages to a child process, and finds the response of each request, without an MCP implementation. */
export function pipeTo(child) {
  const waiting = new Map();
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const notify = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const request = (message) =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve);
      notify(message);
    });
  return { notify, request };
}

/**
 * Starts a server. `load` keeps a number of calls in flight: it returns the calls per second, and the CPU time of the server per call in
 * microseconds.
 */
export async function connect(server) {
  const { request, notify, cpu, stop } = start(server);
  await request(initialize);
  notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let id = 0;
  const call = async () => {
    id += 1;
    const message = `m${id}`;
    const params = { name: 'echo', arguments: { message } };
    const { result } = await request({ jsonrpc: '2.0', id, method: 'tools/call', params });
    if (result?.content?.[0]?.text !== message) throw new Error(`${server.name} sent a wrong result`);
  };
  const load = async (inFlight, seconds) => {
    const before = await cpu();
    const [first, started] = [id, performance.now()];
    const lane = async () => {
      while (performance.now() - started < seconds * 1000) await call();
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    const calls = id - first;
    const perSecond = (calls / (performance.now() - started)) * 1000;
    return { perSecond, cpu: ((await cpu()) - before) / calls };
  };
  return { load, stop };
}

/** Measures the milliseconds from spawn to the `initialize` response. */
export async function coldStart(server) {
  const started = performance.now();
  const connection = start(server);
  await connection.request(initialize);
  const milliseconds = performance.now() - started;
  connection.stop();
  return milliseconds;
}
