// The lower bound over stdio: writes requests and reads responses, without an MCP implementation.
import { spawn } from 'node:child_process';
import { stdioServer } from './stdio-server.mjs';

export function connect() {
  const child = spawn(stdioServer.command, stdioServer.args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let id = 0;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)(message.result);
      waiting.delete(message.id);
    }
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  return {
    call: async (message) => (await request('tools/call', { name: 'echo', arguments: { message } })).content[0].text,
    close: () => child.stdin.end(),
  };
}
