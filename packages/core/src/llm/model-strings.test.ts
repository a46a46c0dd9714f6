import { embed as embed5, embedMany as embedMany5 } from 'ai-v5';
import { embed as embed6, embedMany as embedMany6 } from 'ai-v6';
import { embed as embed7, embedMany as embedMany7, generateText, streamText } from 'ai-v7';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startOpenAiServer, type OpenAiServer } from '../../test/openai-server.js';
import { ModelRouterEmbeddingModel, resolveLanguageModel } from './index.js';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server.close());
beforeEach(() => vi.stubEnv('OPENAI_API_KEY', 'key-from-environment'));
afterEach(() => vi.unstubAllEnvs());

type Embed = (options: { model: never; value: string }) => Promise<{ embedding: number[] }>;
type EmbedMany = (options: { model: never; values: string[] }) => Promise<{ embeddings: number[][] }>;

describe('ModelRouterEmbeddingModel', () => {
  it('embeds through the package of its provider, with base URL, key and headers', async () => {
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small', {
      baseURL: server.baseURL,
      apiKey: 'key-1',
      headers: { 'x-team': 'search' },
    });
    const { embeddings, usage } = await model.doEmbed({ values: ['ab', 'a b c'] });
    expect(embeddings).toEqual([
      [2, 0],
      [5, 2],
    ]);
    expect(usage).toEqual({ tokens: 2 });
    const request = server.requests.at(-1);
    expect(request).toMatchObject({ path: '/v1/embeddings', body: { model: 'text-embedding-3-small' } });
    expect(request?.headers).toMatchObject({ authorization: 'Bearer key-1', 'x-team': 'search' });
  });

  it.each([
    ['5', embed5, embedMany5, 'v2'],
    ['6', embed6, embedMany6, 'v2'],
    ['6', embed6, embedMany6, 'v3'],
    ['7', embed7, embedMany7, 'v2'],
    ['7', embed7, embedMany7, 'v4'],
  ] as const)('goes into embed and embedMany of AI SDK %s, as %s', async (_version, embed, embedMany, version) => {
    const warnings = [vi.spyOn(console, 'warn'), vi.spyOn(process, 'emitWarning')].map((spy) =>
      spy.mockImplementation(() => {}),
    );
    vi.spyOn(console, 'info').mockImplementation(() => {});
    const options = { baseURL: server.baseURL, specificationVersion: version };
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small', options) as never;
    expect((await (embed as unknown as Embed)({ model, value: 'a b' })).embedding).toEqual([3, 1]);
    const values = Array.from({ length: 30 }, (_unused, index) => 'x'.repeat(index + 1));
    const { embeddings } = await (embedMany as unknown as EmbedMany)({ model, values });
    expect(embeddings.map(([length]) => length)).toEqual(values.map((value) => value.length));
    // The default fits all three, and makes the newer ones warn; naming their own version silences them.
    expect(warnings.some((spy) => spy.mock.calls.length > 0)).toBe(version === 'v2' && embed !== embed5);
    vi.restoreAllMocks();
  });

  it('ignores white space around its name, which the samples of the specification have', () => {
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small\t');
    expect(model).toMatchObject({ provider: 'openai', modelId: 'text-embedding-3-small' });
  });

  it('stops when its signal fires', async () => {
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small', { baseURL: server.baseURL });
    await expect(model.doEmbed({ values: ['a'], abortSignal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('refuses a string that names no model', () => {
    for (const text of ['', 'openai', 'openai/', '/gpt', '  '])
      expect(() => new ModelRouterEmbeddingModel(text)).toThrow(
        expect.objectContaining({ code: 'MODEL_STRING_INVALID' }),
      );
  });

  it('recommends a model of the kind that is missing', async () => {
    await expect(resolveLanguageModel('gpt')).rejects.toThrow("for example 'openai/gpt-5.1'");
    expect(() => new ModelRouterEmbeddingModel('small')).toThrow("for example 'openai/text-embedding-3-small'");
  });
});

describe('a model string that cannot be used', () => {
  const failures = [
    ['MODEL_PROVIDER_UNKNOWN', 'acme/model-1', "the provider 'acme'. Known: amazon-bedrock, anthropic"],
    ['MODEL_PROVIDER_UNKNOWN', 'constructor/model-1', "the provider 'constructor'"],
    ['MODEL_PACKAGE_MISSING', 'groq/model-1', 'npm install @ai-sdk/groq'],
  ] as const;

  it.each(failures)('gives %s for %s, for embeddings and for language', async (code, name, text) => {
    const expected = { code, message: expect.stringContaining(text) as string };
    await expect(new ModelRouterEmbeddingModel(name).doEmbed({ values: ['a'] })).rejects.toMatchObject(expected);
    await expect(resolveLanguageModel(name)).rejects.toMatchObject(expected);
  });

  it('says which key is missing, and can be tried again', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small', { baseURL: server.baseURL });
    await expect(model.doEmbed({ values: ['a'] })).rejects.toMatchObject({
      code: 'MODEL_KEY_MISSING',
      message: expect.stringMatching(/openai\/text-embedding-3-small.*OPENAI_API_KEY/) as string,
    });
    vi.stubEnv('OPENAI_API_KEY', 'now-there');
    expect((await model.doEmbed({ values: ['a'] })).embeddings).toEqual([[1, 0]]);
  });
});

describe('resolveLanguageModel', () => {
  it('gives a model for generateText and streamText, over the chat API of a compatible server', async () => {
    const model = await resolveLanguageModel('openai/gpt-5.1', {
      baseURL: server.baseURL,
      headers: { 'x-team': 'chat' },
    });
    expect((await generateText({ model: model, prompt: 'Hi' })).text).toBe('Hello!');
    expect(await streamText({ model, prompt: 'Hi' }).text).toBe('Hello!');
    expect(server.requests.slice(-2).map((request) => request.path)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
    ]);
    expect(server.requests.at(-1)).toMatchObject({
      headers: { authorization: 'Bearer key-from-environment', 'x-team': 'chat' },
      body: { model: 'gpt-5.1' },
    });
  });

  it("takes the provider's own default without a base URL", async () => {
    const model = await resolveLanguageModel(' openai/gpt-5.1\n');
    expect(model).toMatchObject({ provider: 'openai.responses', modelId: 'gpt-5.1' });
  });

  it('returns a model object unchanged', async () => {
    const model = {
      specificationVersion: 'v3',
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => {},
      doStream: async () => {},
    };
    expect(await resolveLanguageModel(model)).toBe(model);
  });
});
