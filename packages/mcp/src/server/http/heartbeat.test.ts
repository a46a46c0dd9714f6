import { describe, expect, test } from 'vitest';
import { SessionStore } from './sessions.js';
import { EventStream } from './event-stream.js';
import { Heartbeat } from './heartbeat.js';
import type { EventSink, HttpReply, HttpRequest } from './message.js';
import { HttpResponse, type HttpEndpointState } from './response.js';

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
  onClose(): void {}
  write(text: string): void {
    this.log.push(text.trim());
  }
  end(): void {
    this.log.push('end');
  }
}

const start = (enableJsonResponse = false): { heartbeat: Heartbeat; answer: HttpResponse; reply: Recorder } => {
  const heartbeat = new Heartbeat(new SessionStore());
  const reply = new Recorder();
  // The parts that a response without a session uses.
  const endpoint = { onStoreError() {} } as unknown as HttpEndpointState;
  const answer = new HttpResponse(endpoint, {} as HttpRequest, reply, { enableJsonResponse });
  heartbeat.add(answer);
  return { heartbeat, answer, reply };
};

describe('the heartbeat', () => {
  test('sends a quick response in one piece', () => {
    const { heartbeat, answer, reply } = start();
    heartbeat.beat();
    answer.end('{}');
    expect(reply.log).toEqual(['200 {}']);
    heartbeat.stop();
  });

  test('turns a long silent call into an event stream and keeps it alive', async () => {
    const { heartbeat, answer, reply } = start();
    for (let beat = 0; beat < 6; beat += 1) heartbeat.beat();
    expect(reply.log).toEqual(['stream', ': keep-alive', ': keep-alive', ': keep-alive']);
    answer.end('{"late":true}');
    heartbeat.remove(answer);
    await expect.poll(() => reply.log.slice(4)).toEqual(['event: message\ndata: {"late":true}', 'end']);
    heartbeat.stop();
  });

  test('never turns a response into a stream with enableJsonResponse', () => {
    const { heartbeat, answer, reply } = start(true);
    for (let beat = 0; beat < 6; beat += 1) heartbeat.beat();
    answer.end('{}');
    expect(reply.log).toEqual(['200 {}']);
    heartbeat.stop();
  });

  test('sends comments on standalone event streams', () => {
    const sessions = new SessionStore();
    const heartbeat = new Heartbeat(sessions);
    const session = sessions.create('a', '', '2025-11-25');
    const reply = new Recorder();
    session.standaloneStream = new EventStream({ id: session.standaloneStreamId, onStoreError() {} });
    session.standaloneStream.attach(reply);
    for (let beat = 0; beat < 6; beat += 1) heartbeat.beat();
    expect(reply.log).toEqual([': keep-alive', ': keep-alive']);
    sessions.endAll();
  });
});
