import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http';

export interface StreamEvent {
  id?: string;
  event?: string;
  retry?: string;
  data: string;
}

/** An event stream as it arrives, for tests that have to look before it ends. */
export interface EventReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: StreamEvent[];
  readonly ended: Promise<void>;
  /** Breaks the connection. */
  destroy(): void;
}

export interface EventReaderRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  agent?: Agent;
}

export async function readEvents(
  url: string,
  { method = 'GET', headers = {}, body, agent }: EventReaderRequest = {},
): Promise<EventReader> {
  const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
  const req: ClientRequest = request(url, {
    method,
    agent,
    headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  });
  const responding = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    req.once('error', reject);
  });
  req.end(body === undefined ? undefined : JSON.stringify(body));
  const res = await responding;
  const events: StreamEvent[] = [];
  let text = '';
  res.setEncoding('utf8');
  res.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) events.push(event);
    }
  });
  const ended = new Promise<void>((resolve) => res.once('close', resolve));
  res.on('error', () => {});
  return { status: res.statusCode ?? 0, headers: res.headers, events, ended, destroy: () => req.destroy() };
}

/** Returns the messages that have arrived. */
// oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
export function messagesOf({ events }: EventReader): any[] {
  return events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data) as unknown);
}

function parseEvent(block: string): StreamEvent | undefined {
  const fields = block.split('\n').filter((line) => !line.startsWith(':'));
  if (fields.length === 0) return undefined;
  const entries = fields.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
  return { data: '', ...(Object.fromEntries(entries) as Partial<StreamEvent>) };
}
