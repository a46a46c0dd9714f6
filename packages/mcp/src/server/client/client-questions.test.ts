import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { nameForm } from '../../../test/name-form.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { initializeParams, modern, rpc, send } from '../../../test/clients/wire.ts';
import { missingCapabilities } from './client-requests.js';
import { MCPServer } from '../mcp-server.js';

const message = { role: 'user' as const, content: { type: 'text', text: 'Hi' } };
let text = 'Your name?';

const server = new MCPServer({
  name: 'Asking',
  version: '1',
  tools: {
    three: toolOf('three', async (_input, { mcp }) => {
      const [form, sample, roots] = await Promise.all([
        mcp.elicitation.sendRequest({ message: text, requestedSchema: nameForm }, { key: 'form' }),
        mcp.sample({ messages: [message], maxTokens: 5 }, { key: 'model' }),
        mcp.roots({ key: 'roots' }),
      ]);
      return [form.content?.name, sample.text, roots.length];
    }),
    steps: toolOf('steps', { inputSchema: z.object({ count: z.number().default(3) }) }, async ({ count }, { mcp }) => {
      const names: unknown[] = [];
      for (let index = 0; index < count; index += 1) {
        const requestedSchema = nameForm;
        const { content } = await mcp.elicitation.sendRequest({ message: `Name ${index}?`, requestedSchema });
        names.push(content?.name);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return names.join();
    }),
    tooled: toolOf(
      'tooled',
      async (_input, { mcp }) => (await mcp.sample({ messages: [message], maxTokens: 5, tools: [{}] })).text,
    ),
    careless: toolOf('careless', async (_input, { mcp }) => {
      void mcp.elicitation.sendRequest({ message: text, requestedSchema: nameForm });
      void mcp.elicitation.sendRequest({ mode: 'url', message: text, url: 'ftp://nowhere' });
      void mcp.sample({ messages: [message], maxTokens: 5 });
      void mcp.roots();
      void mcp.extra?.sendRequest?.({ method: 'nothing/here' });
      return 'done';
    }),
  },
  prompts: {
    listPrompts: async () => [{ name: 'three' }],
    getPromptMessages: async ({ mcp }) => {
      const { content } = await mcp.elicitation.sendRequest(
        { message: text, requestedSchema: nameForm },
        { key: 'form' },
      );
      return [{ role: 'user', content: { type: 'text', text: content?.name } }];
    },
  },
});
const { url } = await server.listen();
afterAll(() => server.close({ grace: 100 }));

const everything = { elicitation: {}, sampling: {}, roots: {} };

async function ask(method: string, params: Record<string, unknown>, capabilities: object = everything) {
  const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  return send(url, modern(method, { ...params, _meta }));
}

const accept = (name: unknown): object => ({ action: 'accept', content: { name } });
const answers = {
  form: accept('Ada'),
  model: {
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ],
  },
  roots: { roots: [{ uri: 'file:///a' }] },
};

describe('client requests of a modern request', () => {
  test('sends requests of all kinds in one round', async () => {
    const { result } = (await ask('tools/call', { name: 'three' })).json;
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        form: { method: 'elicitation/create', params: { mode: 'form', message: text } },
        model: { method: 'sampling/createMessage', params: { maxTokens: 5 } },
        roots: { method: 'roots/list' },
      },
    });
    const { requestState } = result;
    const done = await ask('tools/call', { name: 'three', requestState, inputResponses: answers });
    expect(done.json.result.content).toEqual([{ type: 'text', text: '["Ada","Hello",1]' }]);
  });

  test('repeats the requests with an invalid result and keeps the other results', async () => {
    const { requestState } = (await ask('tools/call', { name: 'three' })).json.result;
    const inputResponses = { form: accept(5), model: { role: 'assistant' }, roots: answers.roots };
    const again = (await ask('tools/call', { name: 'three', requestState, inputResponses })).json.result;
    expect(Object.keys(again.inputRequests).toSorted()).toEqual(['form', 'model']);
    const { form, model } = answers;
    const done = await ask('tools/call', {
      name: 'three',
      requestState: again.requestState,
      inputResponses: { form, model },
    });
    expect(done.json.result.content).toEqual([{ type: 'text', text: '["Ada","Hello",1]' }]);
  });

  test('takes one round per sequential request and repeats none', async () => {
    const asked: string[] = [];
    let params: Record<string, unknown> = { name: 'steps', arguments: {} };
    let result = (await ask('tools/call', params)).json.result;
    while (result.resultType === 'input_required') {
      const [[key, request]] = Object.entries(result.inputRequests) as [[string, { params: { message: string } }]];
      asked.push(request.params.message);
      params = { ...params, requestState: result.requestState, inputResponses: { [key]: accept(key) } };
      result = (await ask('tools/call', params)).json.result;
    }
    expect(asked).toEqual(['Name 0?', 'Name 1?', 'Name 2?']);
    expect(result.content[0].text).toBe('input-1,input-2,input-3');
  });

  test('end with an error after ten rounds', async () => {
    let params: Record<string, unknown> = { name: 'steps', arguments: { count: 20 } };
    let answer = (await ask('tools/call', params)).json;
    let rounds = 0;
    while (answer.result?.resultType === 'input_required') {
      rounds += 1;
      const [key = ''] = Object.keys(answer.result.inputRequests);
      params = { ...params, requestState: answer.result.requestState, inputResponses: { [key]: accept('x') } };
      answer = (await ask('tools/call', params)).json;
    }
    expect(rounds).toBe(10);
    expect(answer.error.code).toBe(-32603);
  });

  test('sends a request again that changed between the rounds', async () => {
    const { requestState } = (await ask('tools/call', { name: 'three' })).json.result;
    text = 'And your name now?';
    const again = (await ask('tools/call', { name: 'three', requestState, inputResponses: answers })).json.result;
    expect(Object.keys(again.inputRequests)).toEqual(['form']);
    text = 'Your name?';
  });

  test('state of a tool is refused by a prompt of the same name', async () => {
    const { requestState } = (await ask('tools/call', { name: 'three' })).json.result;
    const params = { name: 'three', requestState, inputResponses: answers };
    expect((await ask('prompts/get', params)).json.error.code).toBe(-32602);
    const own = (await ask('prompts/get', { name: 'three' })).json.result.requestState;
    expect((await ask('prompts/get', { ...params, requestState: own })).json.result.messages[0].content.text).toBe(
      'Ada',
    );
  });

  test('answers without the state that belongs to them count for nothing', async () => {
    const answer = await ask('tools/call', { name: 'three', inputResponses: answers });
    expect(answer.json.result.resultType).toBe('input_required');
  });

  test.each([everything, {}])(
    'returns the result when no code awaits the request, also for a client with %j',
    async (capabilities) => {
      const done = [{ type: 'text', text: 'done' }];
      expect((await ask('tools/call', { name: 'careless' }, capabilities)).json.result.content).toEqual(done);
      const body = rpc('initialize', { ...initializeParams, capabilities });
      const headers = { 'mcp-session-id': String((await send(url, { body })).headers['mcp-session-id']) };
      const { json, events } = await send(url, { headers, body: rpc('tools/call', { name: 'careless' }) });
      expect((events.at(-1) ?? json).result.content).toEqual(done);
      // An unhandled rejection would fail the test run.
      await send(url, { method: 'DELETE', headers });
      await new Promise((resolve) => setImmediate(resolve));
    },
  );

  test('names the missing capabilities of all requests of a round in one error', async () => {
    const refused = await ask('tools/call', { name: 'three' }, { elicitation: { url: {} } });
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } },
    });
  });

  test('tools for the model need a client that takes them', async () => {
    const refused = await ask('tools/call', { name: 'tooled' });
    expect(refused.json.error.data).toEqual({ requiredCapabilities: { sampling: { tools: {} } } });
    const asked = await ask('tools/call', { name: 'tooled' }, { sampling: { tools: {} } });
    expect(asked.json.result.inputRequests['input-1'].params.tools).toEqual([{}]);
  });
});

test.each([
  [{ elicitation: { form: {} } }, { elicitation: {} }, undefined],
  [{ elicitation: { form: {} } }, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: {} }, { elicitation: { url: {} } }],
  [{ sampling: {} }, {}, { sampling: {} }],
  [{ sampling: { tools: {} } }, { sampling: {} }, { sampling: { tools: {} } }],
  [{ sampling: { tools: {} } }, { sampling: { tools: {} } }, undefined],
  [{ roots: {} }, { roots: { listChanged: true } }, undefined],
  [{ roots: {} }, { roots: null }, { roots: {} }],
])('%j of a client that declares %j lacks %j', (required, declared, missing) => {
  expect(missingCapabilities(required, declared as never)).toEqual(missing);
});
