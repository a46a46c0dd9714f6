import { describe, expect, test } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { createServerState } from '../create-server-state.js';
import type { Work } from '../client/legacy-session.js';
import { HttpEndpoint } from './endpoint.js';
import { EventStream } from './event-stream.js';
import type { EventSink, HttpReply, HttpRequest } from './message.js';
import { NodeReply, NodeRequest } from './node-http.js';
import { ResponseWriter } from './response-writer.js';

/** Records what would go over the network. */
class Recorder implements HttpReply, EventSink {
  readonly log: string[] = [];
  send(status: number, _headers: object, text?: string): void {
    this.log.push(`${status} ${text}`);
  }
  stream(): EventSink {
    this.log.push('stream');
    return this;
  }
  addHeaders(): void {}
  endConnection(): void {}
  onClose(): void {}
  write(text: string): void {
    this.log.push(text.trim());
  }
  end(): void {
    this.log.push('end');
  }
}

const createEndpoint = (): HttpEndpoint =>
  new HttpEndpoint(createServerState({ name: 'Slow', version: '1.0.0', tools: {} }).state);

const workOf = (run: Work['run']): Work => ({
  run,
  sentMessage: false,
  isHeld: false,
  cancel: () => {},
  release: () => {},
  failureText: () => '',
});

/** Runs a request for `beats` beats of the endpoint, and returns what went over the network. */
async function answerAfter(beats: number, enableJsonResponse = false): Promise<string[]> {
  const endpoint = createEndpoint();
  const reply = new Recorder();
  const response = new ResponseWriter(endpoint, {} as HttpRequest, reply, { enableJsonResponse });
  const run = async (): Promise<string> => {
    for (let beat = 0; beat < beats; beat += 1) endpoint.beat();
    return '{}';
  };
  await response.run(1, workOf(run));
  return reply.log;
}

const result = '{"jsonrpc":"2.0","id":1,"result":{}}';

describe('the beat of an endpoint', () => {
  test('leaves a quick response in one piece', async () => {
    expect(await answerAfter(1)).toEqual([`200 ${result}`]);
  });

  test('turns a slow response into an event stream and keeps it alive', async () => {
    const events = [': keep-alive', ': keep-alive', ': keep-alive', `event: message\ndata: ${result}`];
    expect(await answerAfter(4)).toEqual(['stream', ...events, 'end']);
  });

  test('never turns a response into a stream with enableJsonResponse', async () => {
    expect(await answerAfter(4, true)).toEqual([`200 ${result}`]);
  });

  test('writes nothing after the response of a middleware', async () => {
    const endpoint = createEndpoint();
    let thrown: unknown;
    const { origin } = await serveHttp(async (req, res) => {
      const response = new ResponseWriter(endpoint, new NodeRequest(req), new NodeReply(res), {});
      const run = async (): Promise<string> => {
        res.writeHead(503).end('timeout');
        endpoint.beat();
        try {
          endpoint.beat();
        } catch (error) {
          thrown = error;
        }
        return '{}';
      };
      await response.run(1, workOf(run));
    });
    const response = await fetch(origin);
    expect([response.status, await response.text()]).toEqual([503, 'timeout']);
    // From the timer of the endpoint, an error would end the process.
    expect(thrown).toBeUndefined();
  });

  test('sends comments on standalone event streams', async () => {
    const endpoint = createEndpoint();
    const session = await endpoint.sessions.create({ principal: '', callerKey: undefined }, {}, () => 'a');
    const reply = new Recorder();
    session.standaloneStream = new EventStream({ id: session.standaloneStreamId, onStoreError() {} });
    session.standaloneStream.attach(reply);
    endpoint.beat();
    endpoint.beat();
    expect(reply.log).toEqual([': keep-alive', ': keep-alive']);
  });
});
