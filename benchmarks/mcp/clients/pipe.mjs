// The lower bound over stdio: writes requests and reads responses, without an MCP implementation.
import { spawn } from 'node:child_process';
import { pipeTo } from '../stdio.mjs';
import { stdioServer } from './stdio-server.mjs';

export function connect() {
  const child = spawn(stdioServer.command, stdioServer.args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const { request } = pipeTo(child);
  let id = 0;
  const call = async (message) => {
    const params = { name: 'echo', arguments: { message } };
    const { result } = await request({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params });
    return result.content[0].text;
  };
  return { call, close: () => child.stdin.end() };
}
