import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { serverFile, sourceArguments } from './processes.mjs';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

function start({ name, source, folder }) {
  const child = spawn(process.execPath, [...sourceArguments(source), serverFile(name, folder), 'stdio', '10'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  return {
    ...pipeTo(child),
    cpu: () => cpuOf(child.pid),
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

/** Microseconds of CPU time of another process, in steps of 10 ms; `NaN` where there is no `/proc`. */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return Number.NaN;
  }
}

/** Measures the calls per second, and the CPU time of the server per call in microseconds, with a fixed number of calls in flight, after a short warm-up. */
export async function stdioCalls({ inFlight, seconds, ...server }) {
  const connection = start(server);
  await connection.request(initialize);
  connection.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let id = 0;
  const run = async (duration) => {
    let calls = 0;
    const started = performance.now();
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (performance.now() - started < duration) {
          id += 1;
          const message = `m${id}`;
          const params = { name: 'echo', arguments: { message } };
          const { result } = await connection.request({ jsonrpc: '2.0', id, method: 'tools/call', params });
          if (result?.content?.[0]?.text !== message) throw new Error(`${server.name} sent a wrong result`);
          calls += 1;
        }
      }),
    );
    return { calls, perSecond: (calls / (performance.now() - started)) * 1000 };
  };
  await run(700);
  const before = connection.cpu();
  const { calls, perSecond } = await run(seconds * 1000);
  const cpu = (connection.cpu() - before) / calls;
  connection.stop();
  return { perSecond, cpu };
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
