import { afterAll, describe, expect, test } from 'vitest';
import { exampleTools, runs } from '../../../test/servers/example-tools.ts';
import { realClients, type ClientAnswers, type RealClient } from '../../../test/clients/real-clients.ts';
import { envelope, modern, openSession, rpc, send, type WireAnswer } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import { elicitationRequest, passedOnRequest, rawRequest } from './client-requests.js';

const server = new MCPServer({ name: 'Asking', version: '1.0.0', tools: exampleTools });
const running = await server.listen();
const stateless = await server.listen({ serverless: true });
afterAll(() => server.close());

type Elicit = NonNullable<ClientAnswers['elicit']>;

const polite: Elicit = ({ message }) => ({
  action: 'accept',
  content: String(message).includes('name') ? { name: 'Ada' } : { age: 36 },
});

const clients = realClients(() => running.url, 'stdio-server.ts');
const connectLegacy = (elicit: Elicit): Promise<RealClient> =>
  clients.find(({ era }) => era === 'legacy')!.connect({ elicit });
const withoutSessions = realClients(() => stateless.url)
  .filter(({ name }) => name === 'SDK 2 (stateless revision) over HTTP')
  .map((client) => ({ ...client, name: `${client.name} without sessions` }));

describe.each([...clients, ...withoutSessions])('$name', ({ connect }) => {
  const ask = async (tool: string, elicit: Elicit | undefined): Promise<unknown> => {
    const client = await connect({ ...(elicit && { elicit }) });
    try {
      return await client.callTool({ name: tool, arguments: {} });
    } finally {
      await client.close();
    }
  };

  test('returns the results of two elicitation requests inside try and catch', async () => {
    expect(await ask('contact', polite)).toMatchObject({ content: [{ type: 'text', text: 'Hello Ada, 36' }] });
  });

  test('returns a declined elicitation request as a result', async () => {
    expect(await ask('contact', () => ({ action: 'decline' }))).toMatchObject({
      content: [{ text: 'no name: decline' }],
    });
  });

  test('returns the results of two parallel elicitation requests', async () => {
    const answer: Elicit = ({ message }) => ({
      action: 'accept',
      content: { [String(message)]: String(message).toUpperCase() },
    });
    expect(await ask('both', answer)).toMatchObject({ content: [{ text: '["FIRST","SECOND"]' }] });
  });

  test('rejects in the tool when the client does not support elicitation', async () => {
    expect(await ask('contact', undefined)).toMatchObject({
      content: [{ text: 'could not ask: ELICITATION_NOT_SUPPORTED' }],
    });
  });
});

describe('legacy sessions', () => {
  test('keeps a result that violates the requested schema from the tool', async () => {
    const client = await connectLegacy(() => ({ action: 'accept', content: { name: 5 } }));
    expect(await client.callTool({ name: 'contact' })).toMatchObject({
      content: [{ text: 'could not ask: ELICITATION_ANSWER_INVALID' }],
    });
    await client.close();
  });

  test('sends each elicitation request to the client of its session', async () => {
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const client = await connectLegacy(({ message }) => ({
          action: 'accept',
          content: String(message).includes('name') ? { name: `user ${index}` } : { age: index },
        }));
        const result = (await client.callTool({ name: 'contact' })) as { content: [{ text: string }] };
        await client.close();
        return result.content[0].text;
      }),
    );
    texts.forEach((text, index) => expect(text).toBe(`Hello user ${index}, ${index}`));
  });

  test('ignores a response from another session', async () => {
    const mine = await openSession(running.url, {}, { elicitation: {} });
    const other = await openSession(running.url, {}, { elicitation: {} });
    const call = send(running.url, { headers: mine, body: rpc('tools/call', { name: 'contact', arguments: {} }) });
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let number = 1; number < 400; number += 1) {
      const answer = {
        jsonrpc: '2.0',
        id: `question-${number}`,
        result: { action: 'accept', content: { name: 'Mallory' } },
      };
      await send(running.url, { headers: other, body: answer });
    }
    await send(running.url, { method: 'DELETE', headers: mine });
    expect(JSON.stringify((await call).events)).not.toContain('Mallory');
  });

  test('rejects an elicitation request without a session', async () => {
    const answer = await send(stateless.url, { body: rpc('tools/call', { name: 'contact', arguments: {} }) });
    expect(answer.json.result.content[0].text).toBe('could not ask: ELICITATION_NOT_SUPPORTED');
    const uncaught = await send(stateless.url, { body: rpc('tools/call', { name: 'both', arguments: {} }) });
    expect(uncaught.json.result.content[0].text).toMatch(/^Error: `serverless` turns off the sessions/);
  });
});

describe('the stateless revision', () => {
  const meta = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const call = (extra: Record<string, unknown> = {}): Promise<WireAnswer> =>
    send(running.url, modern('tools/call', { name: 'contact', arguments: {}, _meta: meta, ...extra }));
  const accept = (content: object): object => ({ action: 'accept', content });

  test('ends the round at an elicitation request, and runs the tool again with the result', async () => {
    const before = runs.count;
    const first = await call();
    expect(first.status).toBe(200);
    expect(first.json.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'input-1': { method: 'elicitation/create', params: { message: 'What is your name?' } } },
    });
    const inputResponses = { 'input-1': accept({ name: 'Ada' }), extra: accept({ ignored: true }) };
    const second = await call({ inputResponses, requestState: first.json.result.requestState });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(['age']);
    const third = await call({
      inputResponses: { age: accept({ age: 36 }) },
      requestState: second.json.result.requestState,
    });
    expect(third.json.result).toMatchObject({ resultType: 'complete', content: [{ text: 'Hello Ada, 36' }] });
    expect(runs.count).toBe(before + 3);
  });

  test.each([
    ['no answer', {}],
    ['an answer off the schema', { 'input-1': accept({ name: 5 }) }],
    ['an answer that is none', { 'input-1': 'Ada' }],
  ])('%s asks again', async (_what, inputResponses) => {
    const { requestState } = (await call()).json.result;
    const again = await call({ inputResponses, requestState });
    expect(Object.keys(again.json.result.inputRequests)).toEqual(['input-1']);
  });

  test('rejects in the tool when the responses of ten rounds violate the schema', async () => {
    let answer = (await call()).json.result;
    let rounds = 0;
    while (answer.resultType === 'input_required') {
      rounds += 1;
      const inputResponses = { 'input-1': accept({ name: 5 }) };
      answer = (await call({ inputResponses, requestState: answer.requestState })).json.result;
    }
    expect(rounds).toBe(10);
    expect(answer.content).toMatchObject([{ text: 'could not ask: ELICITATION_ANSWER_INVALID' }]);
  });

  test('rejects in the tool when a response reports a failure', async () => {
    const report = async (failure: unknown): Promise<string> => {
      const { requestState } = (await call()).json.result;
      const inputResponses = { 'input-1': { action: 'cancel', _meta: { 'quiver/error': failure } } };
      return (await call({ inputResponses, requestState })).json.result.content[0].text;
    };
    expect(await report({ message: 'no terminal' })).toBe('could not ask: ELICITATION_FAILED');
    expect(await report({ code: 'OTHER' })).toBe('could not ask: ELICITATION_FAILED');
    expect(await report({ code: 'ELICITATION_ANSWER_INVALID' })).toBe('could not ask: ELICITATION_ANSWER_INVALID');
    expect(await report('no terminal')).toBe('no name: cancel');
  });

  test('ignores a result without a request', async () => {
    const answer = await call({ inputResponses: { 'input-1': accept({ name: 'Ada' }) } });
    expect(answer.json.result.resultType).toBe('input_required');
  });

  test('rejects changed and foreign state, and state that is not a string', async () => {
    const { requestState } = (await call()).json.result as { requestState: string };
    const inputResponses = { 'input-1': accept({ name: 'Ada' }) };
    const other = new MCPServer({ name: 'Other', version: '1', tools: exampleTools });
    const elsewhere = await other.listen();
    const foreign = await send(
      elsewhere.url,
      modern('tools/call', { name: 'contact', arguments: {}, _meta: meta, inputResponses, requestState }),
    );
    expect(foreign.json.error.code).toBe(-32602);
    await other.close();
    for (const wrong of [`${requestState}x`, requestState.slice(0, -4), 'v1.e30.x', '', 7, null]) {
      expect((await call({ inputResponses, requestState: wrong })).json.error.code).toBe(-32602);
    }
    for (const otherCall of [{ arguments: { greeting: 'Hi' } }, { name: 'both' }]) {
      expect((await call({ inputResponses, requestState, ...otherCall })).json.error.code).toBe(-32602);
    }
  });

  test('names the missing capability when the tool does not handle the error', async () => {
    const answer = await send(running.url, modern('tools/call', { name: 'both', arguments: {} }));
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
  });
});

describe('accepted form content', () => {
  const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' } }, required: ['name'] };
  const content = JSON.parse('{"name":"Ada","admin":true,"__proto__":{"admin":true}}') as object;

  test.each([
    ['elicitation.sendRequest', elicitationRequest({ message: 'Who?', requestedSchema })],
    ['extra.sendRequest', rawRequest({ method: 'elicitation/create', params: { message: 'Who?', requestedSchema } })],
  ])('loses members that %s did not request', async (_name, question) => {
    const answer = await question.parse({ action: 'accept', content });
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada' } });
    expect(Object.keys((answer as { content: object }).content)).toEqual(['name']);
  });
});

test('a request of another server is described as one of this server', () => {
  const page = { mode: 'url', message: 'Open it', url: 'https://a.example' } as const;
  const { method, subject, what, requires } = elicitationRequest(page);
  expect(passedOnRequest(method, page)).toMatchObject({ method, subject, what, requires });
});
