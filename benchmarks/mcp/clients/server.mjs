// The server of every measured client. It responds at once, in either protocol version, as JSON, as an event stream, or over HTTP+SSE.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { ready } from '../servers/process.mjs';

const tools = Array.from({ length: 50 }, (_, index) => ({
  name: index === 0 ? 'echo' : `tool_${index}`,
  description: index === 0 ? 'Echoes a message' : `Does what tool ${index} does, with a text, a number and a choice`,
  inputSchema: {
    type: 'object',
    properties:
      index === 0
        ? { message: { type: 'string' } }
        : {
            text: { type: 'string', description: 'a text' },
            limit: { type: 'number' },
            kind: { type: 'string', enum: ['a', 'b'] },
          },
    required: [index === 0 ? 'message' : 'text'],
  },
}));
const serverInfo = { name: 'bench', version: '1.0.0' };
const capabilities = { tools: {} };

const results = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities, serverInfo }),
  'server/discover': () => ({
    supportedVersions: ['2026-07-28'],
    capabilities,
    serverInfo,
    ttlMs: 60_000,
    cacheScope: 'private',
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { message } }) => ({ content: [{ type: 'text', text: message }] }),
  ping: () => ({}),
};

/** @returns the text of the response, or `undefined` for a method that this protocol version does not define */
function answer({ id, method, params }, isModern) {
  if (method === (isModern ? 'initialize' : 'server/discover')) return undefined;
  const result = results[method]?.(params);
  if (!result) return undefined;
  const complete = isModern
    ? { resultType: 'complete', ...(method === 'tools/list' && { ttlMs: 60_000, cacheScope: 'private' }), ...result }
    : result;
  return JSON.stringify({ jsonrpc: '2.0', id, result: complete });
}

/** Open streams of HTTP+SSE, by session. */
const streams = [];

/** Opens a stream of HTTP+SSE, whose first event names the address for messages. */
function openStream(res) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(`event: endpoint\ndata: /http-sse/messages?session=${streams.push(res) - 1}\n\n`);
}

let lastRequest = Number.NEGATIVE_INFINITY;
let isAwake = false;

/** Does not sleep between the requests of a client: to wake it would be a part of the CPU time of the client. */
function stayAwake() {
  isAwake = performance.now() < lastRequest + 20;
  if (isAwake) setImmediate(stayAwake);
}

const http = createServer((req, res) => {
  lastRequest = performance.now();
  if (!isAwake) stayAwake();
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const isOverStream = req.url?.startsWith('/http-sse/');
    if (isOverStream && req.method === 'GET') return void openStream(res);
    if (req.method !== 'POST') return void res.writeHead(req.method === 'DELETE' ? 200 : 405).end();
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (isOverStream) {
      const stream = streams[Number(new URL(req.url, 'http://localhost').searchParams.get('session'))];
      if (message.id !== undefined) stream.write(`event: message\ndata: ${answer(message, false)}\n\n`);
      return void res.writeHead(202).end('Accepted');
    }
    if (message.id === undefined) return void res.writeHead(202, { 'content-length': 0 }).end();
    const text = answer(message, req.headers['mcp-protocol-version'] === '2026-07-28');
    const session = message.method === 'initialize' ? { 'mcp-session-id': String(Math.random()) } : {};
    if (text === undefined) {
      const refusal = { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
      return void res.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
    }
    const isStream = req.url?.startsWith('/sse');
    const body = isStream ? `event: message\ndata: ${text}\n\n` : text;
    const type = isStream ? 'text/event-stream' : 'application/json';
    // The length of a stream is not known in advance. The SDK's server omits it too.
    const length = isStream ? {} : { 'content-length': Buffer.byteLength(body) };
    res.writeHead(200, { 'content-type': type, ...length, ...session }).end(body);
  });
});
if (process.argv[2] === 'stdio') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) return;
    const refusal = { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${answer(message, false) ?? JSON.stringify(refusal)}\n`);
  });
} else http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}`));
