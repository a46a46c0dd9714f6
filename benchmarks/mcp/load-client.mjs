// The load generator for all systems: keep-alive HTTP/1.1 over raw sockets, in a separate process. It checks every response.
import { connect } from 'node:net';

const protocol = 'io.modelcontextprotocol/';
const meta = {
  [`${protocol}protocolVersion`]: '2026-07-28',
  [`${protocol}clientInfo`]: { name: 'bench', version: '1' },
  [`${protocol}clientCapabilities`]: {},
};
const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** A connection with one request at a time. It does little work per request, and most of it outside the measured time: see `#take`. */
class Connection {
  #socket;
  /** Request heads up to the value of `Content-Length`, by headers object. */
  #heads = new WeakMap();
  #chunks = [];
  #received = 0;
  #head;
  #resolve;
  #reject;

  static open(url) {
    return new Promise((resolve, reject) => {
      const connection = new Connection();
      const socket = connect(Number(url.port), url.hostname, () => resolve(connection));
      socket.setNoDelay(true);
      socket.on('error', (error) => (connection.#reject ?? reject)(error));
      socket.on('close', () => connection.#reject?.(new Error('the server closed the connection')));
      socket.on('data', (chunk) => connection.#take(chunk));
      connection.#socket = socket;
    });
  }

  /** @returns {Promise<{ head: string, message: () => any }>} */
  request(url, method, headers, body) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#socket.write(`${this.#headOf(url, method, headers)}${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return promise;
  }

  close() {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #headOf(url, method, headers) {
    const known = this.#heads.get(headers);
    if (known?.method === method) return known.text;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const text =
      `${method} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\n${lines.join('')}Content-Length: `;
    this.#heads.set(headers, { method, text });
    return text;
  }

  /** Finds only the end of a response. The caller decodes and parses it after the measured time. */
  #take(chunk) {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    this.#head ??= parseHead(this.#chunks);
    const head = this.#head;
    if (!head) return;
    const isComplete = head.isChunked
      ? endsWithLastChunk(this.#chunks)
      : this.#received >= head.bodyStart + head.length;
    if (!isComplete) return;
    const bytes = this.#chunks;
    const resolve = this.#resolve;
    this.#chunks = [];
    this.#received = 0;
    this.#head = this.#resolve = this.#reject = undefined;
    resolve?.({ head: head.text, message: () => parseBody(head, Buffer.concat(bytes)) });
  }
}

function parseHead(chunks) {
  const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const text = bytes.latin1Slice(0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  const isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(text);
  return { text, bodyStart: end + 4, length: Number(length ?? 0), isChunked };
}

function endsWithLastChunk(chunks) {
  const last = chunks.at(-1);
  const bytes = last.length < 7 ? Buffer.concat(chunks) : last;
  return bytes.subarray(-7).latin1Slice() === '\r\n0\r\n\r\n';
}

function parseBody(head, bytes) {
  const body = bytes.subarray(head.bodyStart);
  const text = head.isChunked ? unchunk(body) : body.toString('utf8');
  const data = /\r\ncontent-type: *text\/event-stream/i.test(head.text) ? /^data: ?(\{.*)$/m.exec(text)?.[1] : text;
  return data ? JSON.parse(data) : undefined;
}

function unchunk(bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

const sessions = { 'MCP-Protocol-Version': '2025-11-25' };

async function openSession(connection, url) {
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams };
  const { head } = await connection.request(url, 'POST', {}, body);
  const id = /mcp-session-id: *(\S+)/i.exec(head)?.[1];
  if (!id) throw new Error('no session id');
  const headers = { ...sessions, 'Mcp-Session-Id': id };
  await connection.request(url, 'POST', headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return headers;
}

/** The stream of HTTP+SSE, with a connection for the messages of the client. */
class EventStream {
  #text = '';
  #waiting = new Map();
  #socket;

  /** Opens a stream, which names the address for messages, and begins its session. */
  static async open(url) {
    const stream = new EventStream();
    const endpoint = await new Promise((resolve, reject) => {
      stream.#socket = connect(Number(url.port), url.hostname, () =>
        stream.#socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`),
      );
      stream.#socket.setEncoding('utf8');
      stream.#socket.on('error', reject);
      stream.#socket.on('data', (text) => stream.#take(text, resolve));
    });
    stream.url = new URL(endpoint, url);
    stream.connection = await Connection.open(url);
    await stream.request({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams });
    await stream.connection.request(stream.url, 'POST', {}, { jsonrpc: '2.0', method: 'notifications/initialized' });
    return stream;
  }

  /** Sends a request, and resolves when the text of its response has arrived on the stream. */
  async request(body) {
    const received = new Promise((resolve) => this.#waiting.set(body.id, resolve));
    await this.connection.request(this.url, 'POST', {}, body);
    const text = await received;
    return { message: () => JSON.parse(text) };
  }

  close() {
    this.connection.close();
    this.#socket.destroy();
  }

  #take(text, onEndpoint) {
    const events = (this.#text + text).split('\n\n');
    this.#text = events.pop();
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
      if (/^event: endpoint$/m.test(event)) onEndpoint(data);
      else {
        // Finds only the id: the caller parses the message after the measured time.
        const id = Number(/"id":(\d+)/.exec(data)?.[1]);
        this.#waiting.get(id)?.(data);
        this.#waiting.delete(id);
      }
    }
  }
}

function headersFor(mode, method, name) {
  if (mode !== 'modern') return sessions;
  return { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name && { 'Mcp-Name': name }) };
}

const tools = {
  echo: {
    arguments: (n, padding) => ({ message: `m${n}${padding}` }),
    isRight: (result, n, padding) => result?.content?.[0]?.text === `m${n}${padding}`,
  },
  add: { arguments: (n) => ({ a: n, b: 1 }), isRight: (result, n) => result?.structuredContent?.sum === n + 1 },
};

/** Connections of the next load, each with its session. */
let lanes;

/** Opens the connections of a load before its time begins: a session costs as much as many calls. */
async function connectLanes({ url: target, token, mode, tool, inFlight }) {
  const url = new URL(target);
  lanes = await Promise.all(
    Array.from({ length: inFlight }, async () => {
      if (mode === 'http-sse') return EventStream.open(url);
      const connection = await Connection.open(url);
      const headers = mode === 'sessions' ? await openSession(connection, url) : headersFor(mode, 'tools/call', tool);
      const own = { ...headers, Authorization: `Bearer ${token}` };
      return {
        request: (body) => connection.request(url, 'POST', own, body),
        close: () => connection.close(),
      };
    }),
  );
}

/** Calls a tool over the connections that `connectLanes` opened, and closes them. */
async function load({ mode, tool, seconds, size = 0 }) {
  const padding = 'x'.repeat(size);
  const { arguments: argumentsOf, isRight } = tools[tool];
  const latencies = [];
  let wrong = 0;
  let isOver = false;
  // Never sleeps meanwhile: to wake it would be up to a third of the CPU time of a server per call, and more for one that is slower.
  const stayAwake = () => isOver || setImmediate(stayAwake);
  stayAwake();
  const started = performance.now();
  const end = started + seconds * 1000;
  await Promise.all(
    lanes.map(async (lane, index) => {
      for (let id = index * 1e6 + 1; ; id += 1) {
        const before = performance.now();
        if (before > end) break;
        const params = { name: tool, arguments: argumentsOf(id, padding), ...(mode === 'modern' && { _meta: meta }) };
        const { message } = await lane.request({ jsonrpc: '2.0', id, method: 'tools/call', params });
        latencies.push(performance.now() - before);
        const answer = message();
        if (answer?.id !== id || !isRight(answer.result, id, padding)) wrong += 1;
      }
      lane.close();
    }),
  );
  const milliseconds = performance.now() - started;
  isOver = true;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)];
  return { calls: latencies.length, milliseconds, wrong, p50: at(0.5), p99: at(0.99) };
}

async function list({ url: target, mode, times }) {
  const url = new URL(target);
  const connection = await Connection.open(url);
  const headers = mode === 'sessions' ? await openSession(connection, url) : headersFor(mode, 'tools/list');
  const params = mode === 'modern' ? { _meta: meta } : {};
  const latencies = [];
  let listed = 0;
  for (let id = 1; id <= times; id += 1) {
    let cursor;
    let milliseconds = 0;
    listed = 0;
    do {
      const before = performance.now();
      const body = { jsonrpc: '2.0', id, method: 'tools/list', params: { ...params, ...(cursor && { cursor }) } };
      const { message } = await connection.request(url, 'POST', headers, body);
      milliseconds += performance.now() - before;
      const { result } = message();
      listed += result.tools.length;
      cursor = result.nextCursor;
    } while (cursor);
    latencies.push(milliseconds);
  }
  connection.close();
  latencies.sort((a, b) => a - b);
  return { tools: listed, calls: times, p50: latencies[Math.floor(times / 2)] };
}

/** Opens sessions and then ends them or leaves them open. */
async function open({ url: target, count, end }) {
  const url = new URL(target);
  const connection = await Connection.open(url);
  for (let number = 0; number < count; number += 1) {
    const headers = await openSession(connection, url);
    if (end) await connection.request(url, 'DELETE', headers);
  }
  connection.close();
  return { calls: count };
}

const jobs = { connect: connectLanes, load, list, open };

process.on('message', async ({ job, ...options }) => {
  try {
    process.send({ result: (await jobs[job](options)) ?? {} });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
