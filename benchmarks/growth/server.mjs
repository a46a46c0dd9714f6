import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';

const url = 'http://localhost/mcp';

/** A server with `count` tools, and a function that posts a message to it. */
function open(count, options) {
  const tools = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `echo_${index}`,
      createTool({
        id: `echo_${index}`,
        description: 'Returns a message',
        inputSchema: z.object({ message: z.string() }),
        execute: async ({ message }) => message,
      }),
    ]),
  );
  const server = new MCPServer({ name: 'growth', version: '1.0.0', tools });
  let id = 0;
  const post = async (method, params, session) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    if (session) headers['mcp-session-id'] = session;
    const body = JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params });
    const response = await server.fetch(new Request(url, { method: 'POST', headers, body }), options);
    const text = await response.text();
    if (!response.ok || text.includes('"error"'))
      throw new Error(`${method}: ${response.status} ${text.slice(0, 200)}`);
    return { text, session: response.headers.get('mcp-session-id') };
  };
  return { server, post, call: (message, session) => post('tools/call', callOf(message), session) };
}

function callOf(message) {
  return { name: 'echo_0', arguments: { message } };
}

export function registeredTools(count) {
  const { call, server } = open(count, { serverless: true });
  return { run: () => call('hello'), end: () => server.close() };
}

/** Reads all pages. */
export function listOfTools(count) {
  const { post, server } = open(count, { serverless: true });
  const run = async () => {
    let cursor;
    do {
      const { text } = await post('tools/list', cursor === undefined ? {} : { cursor });
      cursor = JSON.parse(text.slice(text.indexOf('{'))).result.nextCursor;
    } while (cursor !== undefined);
  };
  return { run, end: () => server.close() };
}

export async function openSessions(count) {
  const { call, post, server } = open(10, { maxSessions: count + 1 });
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'growth', version: '1.0.0' },
  };
  let last;
  for (let index = 0; index < count; index += 1) last = (await post('initialize', initialize)).session;
  return { run: () => call('hello', last), end: () => server.close() };
}

export function callsInFlight(count) {
  const { call, server } = open(10, { serverless: true });
  const rounds = 1600 / count;
  const run = async () => {
    for (let round = 0; round < rounds; round += 1)
      await Promise.all(Array.from({ length: count }, () => call('hello')));
  };
  return { run, operationsPerRun: 1600, end: () => server.close() };
}

export function messageSize(characters) {
  const { call, server } = open(10, { serverless: true, maxBodyBytes: 2e7 });
  const message = 'x'.repeat(characters);
  return { run: () => call(message), end: () => server.close() };
}
