// The lower bound: parses the request and sends the expected text, without an MCP implementation.
import { mode, ready } from './process.mjs';

const answer = ({ id, params }) => {
  const { name, arguments: args } = params ?? {};
  if (name === 'add') {
    const text = JSON.stringify({ sum: args.a + args.b });
    return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}}`;
  }
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(args?.message ?? '')}}]}}`;
};

if (mode === 'stdio') {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    const requests = lines.map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined);
    process.stdout.write(requests.map((request) => `${answer(request)}\n`).join(''));
  });
} else {
  const { createServer } = await import('node:http');
  const http = createServer((req, res) => {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {};
      if (body.id === undefined) return void res.writeHead(202, { 'content-length': 0 }).end();
      const text = answer(body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      res.writeHead(200, body.method === 'initialize' ? { ...headers, 'mcp-session-id': 'one' } : headers).end(text);
    });
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`));
}
