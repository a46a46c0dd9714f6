import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { afterTest } from '../../test/after-test.ts';
import { eventually } from '../../test/eventually.ts';
import { createFullServer } from '../../test/servers/full-server.ts';
import { inspect } from '../../test/clients/inspect.ts';
import { realClients, type ClientAnswers, type RealClient } from '../../test/clients/real-clients.ts';

const server = createFullServer();
const running = await server.listen();
afterAll(() => server.close({ grace: 500 }));

const kinds = realClients(() => running.url).map((kind) => [kind.name, kind] as const);

describe.each(kinds)('%s', (_name, kind) => {
  /** Tests whose client answers nothing share one. */
  let plain: RealClient;
  beforeAll(async () => {
    plain = await kind.connect();
    return () => plain.close();
  });
  const connect = async (answers: ClientAnswers): Promise<RealClient> => {
    const client = await kind.connect(answers);
    afterTest(() => client.close());
    return client;
  };

  test('prompts: lists versions, gets the first or the requested one, in both shapes of result', async () => {
    expect((await plain.listPrompts()).prompts.slice(0, 2)).toMatchObject([
      { name: 'review', _meta: { 'quiver/version': 'v1' } },
      { name: 'review', _meta: { 'quiver/version': 'v2' } },
    ]);
    const params = { name: 'review', arguments: { code: 'x' } };
    expect(await plain.getPrompt(params)).toMatchObject({
      description: 'Reviews code',
      messages: [{ role: 'user', content: { type: 'text', text: 'v1: x' } }],
    });
    expect(await plain.getPrompt({ ...params, _meta: { 'quiver/version': 'v2' } })).toMatchObject({
      description: 'Reviews code, better',
      messages: [{ content: { text: 'v2: x' } }],
    });
    const { messages } = await plain.getPrompt({ name: 'everything' });
    expect(messages.map(({ content }: { content: { type: string } }) => content.type)).toEqual([
      'text',
      'image',
      'audio',
      'resource_link',
      'resource',
    ]);
  });

  test("sampling, roots and pages: the client's answers reach the tool", async () => {
    const visited: unknown[] = [];
    const client = await connect({
      sample: 'Paris',
      roots: ['file:///home/ada'],
      elicit: (params) => {
        visited.push(params);
        return { action: 'accept' };
      },
    });
    expect(await textOf(client.callTool({ name: 'sample' }))).toBe('test-model: Paris');
    expect(await textOf(client.callTool({ name: 'roots' }))).toBe('["file:///home/ada"]');
    expect(await textOf(client.callTool({ name: 'visit' }))).toBe('accept');
    expect(visited).toMatchObject([{ mode: 'url', message: 'Please pay', url: 'https://example.com/pay' }]);
    expect(await textOf(client.callTool({ name: 'raw', arguments: { method: 'roots/list' } }))).toBe(
      '{"roots":[{"uri":"file:///home/ada"}]}',
    );
    expect(JSON.parse((await textOf(client.callTool({ name: 'capabilities' }))) ?? '')).toMatchObject({
      sampling: {},
      roots: {},
    });
  });

  test('prompts and resources may ask too', async () => {
    const client = await connect({ roots: ['file:///home/ada'] });
    expect((await client.getPrompt({ name: 'asks' })).messages).toMatchObject([
      { content: { text: 'Work in file:///home/ada' } },
    ]);
    expect((await client.readResource({ uri: 'note://asks' })).contents).toMatchObject([{ text: 'file:///home/ada' }]);
  });

  test.each([
    ['sample', 'sampling', 'SAMPLING'],
    ['roots', 'roots', 'ROOTS'],
    ['visit', 'elicitation', 'ELICITATION'],
  ])('%s without the %s capability is a clear error, never a hang', async (name, capability) => {
    const outcome = await plain.callTool({ name }).catch((error: unknown) => error);
    const refused = { code: -32021, data: { requiredCapabilities: { [capability]: {} } } };
    const told = {
      isError: true,
      content: [{ text: expect.stringContaining(`did not declare the capability {"${capability}"`) }],
    };
    expect(outcome).toMatchObject(kind.era === 'modern' ? refused : told);
  });

  test('a request that servers do not send is refused', async () => {
    expect(await plain.callTool({ name: 'raw', arguments: { method: 'tools/list' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("cannot send 'tools/list'") }],
    });
  });
});

const listChanges = ['resources', 'prompts', 'tools'].map((name) => `notifications/${name}/list_changed`);

describe.each(kinds.filter(([, { era }]) => era === 'modern'))('%s', (_name, kind) => {
  test('changes reach a listener, as far as it asked for them', async () => {
    const heard: string[] = [];
    const client = await kind.connect({ onChange: (method, uri) => void heard.push(uri ?? method) });
    const filter = { toolsListChanged: true, resourceSubscriptions: ['note://watched'] };
    const subscription = await client.listen?.(filter);
    expect(subscription.honoredFilter).toEqual(filter);
    await client.callTool({ name: 'change' });
    await eventually(() => expect(heard).toEqual(['note://watched', 'notifications/tools/list_changed']));
    await subscription.close();
    await client.callTool({ name: 'change' });
    expect(heard).toHaveLength(2);
    await client.close();
  });
});

describe.each(kinds.filter(([, { era }]) => era === 'legacy'))('%s', (_name, kind) => {
  test('changes of lists reach every client, changes of a resource those that subscribed', async () => {
    const heard: string[] = [];
    const client = await kind.connect({ onChange: (method, uri) => void heard.push(uri ?? method) });
    await client.subscribeResource({ uri: 'note://watched' });
    // The client opens the stream for notifications after the handshake.
    await eventually(async () => {
      heard.length = 0;
      await client.callTool({ name: 'change' });
      await vi.waitFor(() => expect(heard).toEqual(['note://watched', ...listChanges]), 200);
    });
    await client.unsubscribeResource({ uri: 'note://watched' });
    heard.length = 0;
    await client.callTool({ name: 'change' });
    await eventually(() => expect(heard).toEqual(listChanges));
    await client.close();
  });
});

describe.each(['legacy', 'modern'])('the Inspector in the %s era', (era) => {
  const at = (): string[] => [running.url, '--transport', 'http', '--protocol-era', era];

  test('lists and reads resources, lists and gets prompts', async () => {
    const [listed, read, prompts, got] = await Promise.all([
      inspect(...at(), '--method', 'resources/list'),
      inspect(...at(), '--method', 'resources/read', '--uri', 'note://watched'),
      inspect(...at(), '--method', 'prompts/list'),
      inspect(...at(), '--method', 'prompts/get', '--prompt-name', 'review', '--prompt-args', 'code=x'),
    ]);
    expect(listed['resources']).toHaveLength(7);
    expect(read['contents']).toMatchObject([{ uri: 'note://watched', text: 'watched' }]);
    expect(prompts['prompts']).toHaveLength(4);
    expect(got['messages']).toMatchObject([{ content: { text: 'v1: x' } }]);
  });
});

async function textOf(result: Promise<{ content: { text?: string }[] }>): Promise<string | undefined> {
  return (await result).content[0]?.text;
}
