import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpenAiRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: { model: string; input?: unknown[]; messages?: ChatMessage[]; tools?: unknown[]; stream?: boolean };
}

interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: unknown[];
}

/** A local server that speaks the parts of the OpenAI API that are used here. */
export interface OpenAiServer {
  baseURL: string;
  requests: OpenAiRequest[];
  close(): Promise<void>;
}

/**
 * Starts a server with embeddings of two numbers (length and number of spaces) and a chat model that calls the first tool it
 * is offered with `{"city":"Oslo"}`, and then repeats the result; through the chat API and the responses API.
 */
export async function startOpenAiServer(): Promise<OpenAiServer> {
  const requests: OpenAiRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as OpenAiRequest['body'];
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = answerTo(request.url ?? '', body);
      if (body.stream) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(toEvents(answer as ReturnType<typeof chat>));
      } else {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(path: string, body: OpenAiRequest['body']): object {
  if (path === '/v1/embeddings') return embed((body.input ?? []) as string[]);
  return path === '/v1/responses' ? respond(body) : chat(body);
}

/** The responses API, without streaming. */
function respond({ input = [], tools = [], model }: OpenAiRequest['body']) {
  const last = input.at(-1) as { type?: string; output?: string };
  const [tool] = tools as { name: string }[];
  const isAnswered = last.type === 'function_call_output';
  const text = isAnswered ? `The tool said ${String(last.output)}` : 'Hello!';
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: tool?.name, arguments: '{"city":"Oslo"}' };
  const message = {
    type: 'message',
    role: 'assistant',
    id: 'msg_1',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: 'resp_1', created_at: 0, model, output: [tool && !isAnswered ? call : message], usage };
}

function embed(input: string[]) {
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [text.length, text.split(' ').length - 1],
  }));
  return { object: 'list', data, model: 'test', usage: { prompt_tokens: input.length, total_tokens: input.length } };
}

function chat({ messages = [], tools = [], model }: OpenAiRequest['body']) {
  const last = messages.at(-1);
  const [tool] = tools as { function: { name: string } }[];
  const message: ChatMessage =
    tool && last?.role !== 'tool'
      ? {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: tool.function.name, arguments: '{"city":"Oslo"}' } },
          ],
        }
      : { role: 'assistant', content: last?.role === 'tool' ? `The tool said ${String(last.content)}` : 'Hello!' };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function toEvents({ choices: [choice], ...rest }: ReturnType<typeof chat>): string {
  const toolCalls = choice?.message.tool_calls?.map((call, index) => ({ ...(call as object), index }));
  const delta = { ...choice?.message, ...(toolCalls && { tool_calls: toolCalls }) };
  const chunk = (delta: object, finishReason: string | null) =>
    `data: ${JSON.stringify({ ...rest, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
  return `${chunk(delta, null)}${chunk({}, choice?.finish_reason ?? 'stop')}data: [DONE]\n\n`;
}
