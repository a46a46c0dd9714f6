import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';
import { nameForm } from '../../../test/name-form.ts';
import { createFullServer } from '../../../test/servers/full-server.ts';
import { readEvents } from '../../../test/clients/event-reader.ts';
import { openSession, send } from '../../../test/clients/wire.ts';
import { connectV1, type ClientAnswers } from '../../../test/clients/real-clients.ts';

const question = { message: 'Your name?', requestedSchema: nameForm };

async function serve() {
  const server = createFullServer();
  afterTest(() => server.close({ grace: 100 }));
  const { url } = await server.listen();
  return {
    server,
    url,
    connect: async (answers: ClientAnswers): Promise<string | undefined> => {
      const transport = new HttpV1(new URL(url));
      const client = await connectV1(transport, answers);
      afterTest(() => client.close());
      return transport.sessionId;
    },
  };
}

describe('server.elicitation.sendRequest', () => {
  test('rejects the pending requests of a session that ends', async () => {
    const { server, url, connect } = await serve();
    let isAsked = (): void => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const answers = [{ action: 'accept', content: { name: 'Ada' } }] as const;
    let count = 0;
    const sessionId = await connect({
      elicit: () => answers[count++] ?? (isAsked(), new Promise<never>(() => {})),
    });
    // The client has opened its stream when it answers the first one.
    await eventually(() => server.elicitation.sendRequest(question));
    const pending = server.elicitation.sendRequest(question).catch((error: unknown) => error);
    await asked;
    await send(url, { method: 'DELETE', headers: { 'mcp-session-id': String(sessionId) } });
    expect(await pending).toMatchObject({
      code: 'ELICITATION_FAILED',
      message: expect.stringContaining('disconnected'),
    });
  });

  test('asks the one client that is connected', async () => {
    const { server, connect } = await serve();
    await connect({ elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) });
    // The stream for requests of the server is opened by the client in its own time.
    const answer = await eventually(() => server.elicitation.sendRequest(question));
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada' } });
  });

  test('asks the session that is named, of several', async () => {
    const { server, connect } = await serve();
    const ids: (string | undefined)[] = [];
    for (const name of ['Ada', 'Bob', 'Cleo'])
      ids.push(await connect({ elicit: () => ({ action: 'accept', content: { name } }) }));
    const ask = (sessionId?: string): Promise<unknown> =>
      eventually(() => server.elicitation.sendRequest(question, sessionId === undefined ? {} : { sessionId }));
    expect(await ask(ids[1])).toMatchObject({ content: { name: 'Bob' } });
    expect(await ask(ids[0])).toMatchObject({ content: { name: 'Ada' } });
    await expect(server.elicitation.sendRequest(question)).rejects.toMatchObject({
      code: 'ELICITATION_NO_CLIENT',
      message: expect.stringContaining('3 clients are connected'),
    });
    await expect(server.elicitation.sendRequest(question, { sessionId: 'nobody' })).rejects.toMatchObject({
      code: 'ELICITATION_NO_CLIENT',
    });
  });

  test('waits for the response without a limit with an infinite timeout', async () => {
    const { server, connect } = await serve();
    // A timer of the request that is due at once would fire before this one.
    const elicit = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { action: 'accept', content: { name: 'Ada' } } as const;
    };
    await connect({ elicit });
    await eventually(() => server.elicitation.sendRequest(question));
    const answer = await server.elicitation.sendRequest(question, { timeout: Number.POSITIVE_INFINITY });
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada' } });
  });

  test('rejects with a named error for an invalid result, no client, no capability and a timeout', async () => {
    const { server, connect } = await serve();
    await expect(server.elicitation.sendRequest(question)).rejects.toMatchObject({ code: 'ELICITATION_NO_CLIENT' });
    const [off, unable, silent] = [
      await connect({ elicit: () => ({ action: 'accept', content: { name: 5 } }) }),
      await connect({}),
      await connect({ elicit: () => new Promise(() => {}) as never }),
    ] as [string, string, string];
    const codeOf = (sessionId: string, timeout = 5000): Promise<unknown> =>
      server.elicitation
        .sendRequest(question, { sessionId, timeout })
        .catch((error: { code: string; message: string }) => error);
    await eventually(async () => {
      expect(await codeOf(off)).toMatchObject({
        code: 'ELICITATION_ANSWER_INVALID',
        message: expect.stringContaining('invalid result'),
      });
      expect(await codeOf(silent, 100)).toMatchObject({ code: 'ELICITATION_TIMEOUT' });
    });
    expect(await codeOf(unable)).toMatchObject({ code: 'ELICITATION_NOT_SUPPORTED' });
  });
});

test('notifyComplete() notifies the named session, and throws when that is not possible', async () => {
  const { server, url } = await serve();
  const [one, two] = await Promise.all([openSession(url), openSession(url)]);
  const page = { elicitationId: 'page-1', sessionId: one['mcp-session-id'] };
  await expect(server.elicitation.notifyComplete(page)).rejects.toMatchObject({ code: 'ELICITATION_FAILED' });
  const readers = await Promise.all([one, two].map((headers) => readEvents(url, { headers })));
  for (const reader of readers) afterTest(() => reader.destroy());
  await server.elicitation.notifyComplete(page);
  const params = { elicitationId: 'page-1' };
  await eventually(() => {
    const heard = readers.map(({ events }) => events.map(({ data }) => JSON.parse(data) as unknown));
    expect(heard).toEqual([[{ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params }], []]);
  });
  await expect(server.elicitation.notifyComplete({ elicitationId: 'page-1' })).rejects.toMatchObject({
    code: 'ELICITATION_NO_CLIENT',
  });
});
