import { toolSearch } from 'ai-v7';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { majors, toolResultsSeenBy } from '../../test/ai-sdk-majors.js';
import { createTool, type Tool } from '../tools/index.js';
import { createToolIndex, searchTools, toolTokens, withToolSearch } from './index.js';

/** A tool that returns its name and its input. */
function echo(id: string, description: string, options: Partial<Parameters<typeof createTool>[0]> = {}): Tool {
  return createTool({
    id,
    description,
    inputSchema: z.object({ target: z.string().describe('what to work on') }),
    execute: async (input: object) => ({ ran: id, ...input }),
    ...options,
  } as Parameters<typeof createTool>[0]) as Tool;
}

const reading = { annotations: { readOnlyHint: true } };
const tools = {
  github_create_issue: echo('create', 'Open a new issue in a repository'),
  github_list_pull_requests: echo('list', 'Pull requests of a repository', { mcp: reading }),
  filesystem_readFile: echo('read', 'Returns the content of a file', { mcp: reading }),
  filesystem_deleteFile: echo('delete', 'Removes a file from the disk'),
  weather_getForecast: echo('forecast', 'Temperature and rain of a city', { mcp: reading }),
};

describe('createToolIndex', () => {
  it('finds tools by words of their names, descriptions and parameters', async () => {
    const index = createToolIndex(tools);
    const best = async (query: string) => (await index.search(query, { maxResults: 1 })).map(({ name }) => name);
    expect(await best('get forecast')).toEqual(['weather_getForecast']);
    expect(await best('please erase the file')).toEqual(['filesystem_deleteFile']);
    expect(await best('Will it rain in Oslo?')).toEqual(['weather_getForecast']);
    expect(await best('which PRs exist')).toEqual(['github_list_pull_requests']);
    expect(await best('quantum entanglement')).toEqual([]);
  });

  it('finds names such as GitHub joined and in parts, and short forms of words', async () => {
    const index = createToolIndex([
      { name: 'hub_create_git', description: 'A hub for git' },
      { name: 'github_merge', description: 'Joins branches of GitHub' },
      { name: 'getOneNotePage' },
      { name: 'close_pull_request' },
    ]);
    const best = async (query: string) => (await index.search(query, { maxResults: 1 })).map(({ name }) => name);
    expect(await best('GitHub')).toEqual(['github_merge']);
    expect(await best('github')).toEqual(['github_merge']);
    expect(await best('a page in onenote')).toEqual(['getOneNotePage']);
    expect(await best('one note')).toEqual(['getOneNotePage']);
    expect(await best('close the PR')).toEqual(['close_pull_request']);
    expect(await best('greet Mr Smith')).toEqual([]);
  });

  it('counts a word and its synonyms once', async () => {
    const index = createToolIndex([
      { name: 'get_read_fetch_retrieve_view_load_download', description: 'Sees the content' },
      { name: 'show_invoice' },
      ...Array.from({ length: 20 }, (_, row) => ({ name: `other_${row}` })),
    ]);
    expect((await index.search('show the invoice'))[0]?.name).toBe('show_invoice');
  });

  it('finds no tool that is not visible, and counts none', async () => {
    const index = createToolIndex(tools);
    const isVisible = (name: string) => !name.startsWith('filesystem');
    const found = await index.search('file in a repository', { maxResults: 2, isVisible });
    expect(found.map(({ name }) => name).toSorted()).toEqual(['github_create_issue', 'github_list_pull_requests']);
  });

  it('reads definitions of any shape, without failing for a broken one', async () => {
    const broken = { get: () => 1, inputSchema: { '~standard': null }, description: 7 };
    const deep: Record<string, unknown> = { type: 'object' };
    deep['properties'] = { self: deep };
    const index = createToolIndex([
      { name: 'broken_one', ...broken },
      { name: 'plain', inputSchema: { type: 'object', properties: { zebra: { anyOf: [{ description: 'okapi' }] } } } },
      { name: 'circular', inputSchema: deep },
    ]);
    expect((await index.search('broken')).map(({ name }) => name)).toEqual(['broken_one']);
    expect((await index.search('okapi')).map(({ name }) => name)).toEqual(['plain']);
  });

  it('adds the order of vectors, and tries again after the embedder has failed', async () => {
    let calls = 0;
    const embedder = {
      embed: async (texts: string[], { purpose }: { purpose: string }) => {
        if (purpose === 'document' && calls++ === 0) throw new Error('unavailable');
        return texts.map((text) => [/umbrella|forecast/.test(text) ? 1 : 0, 0.1]);
      },
    };
    const index = createToolIndex(tools, { embedder });
    await expect(index.search('umbrella')).rejects.toThrow('unavailable');
    expect((await index.search('umbrella'))[0]?.name).toBe('weather_getForecast');
  });

  it('refuses unknown options and ends with its signal', async () => {
    expect(() => createToolIndex(tools, { embeder: 1 } as never)).toThrow(/embeder/);
    const index = createToolIndex(tools);
    await expect(index.search('x', { limit: 3 } as never)).rejects.toThrow(/limit/);
    await expect(index.search('x', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });
});

describe('withToolSearch', () => {
  it('shows a short list unchanged, and counts its tokens', () => {
    const { total, servers } = toolTokens(tools);
    expect(servers).toEqual({
      github: expect.any(Number),
      filesystem: expect.any(Number),
      weather: expect.any(Number),
    });
    expect(Object.values(servers).reduce((a, b) => a + b)).toBe(total);
    expect(withToolSearch(tools, { over: total })).toEqual(tools);
    const searched = withToolSearch(tools, { over: total - 1, pinned: ['weather_getForecast'] });
    expect(Object.keys(searched)).toEqual(['weather_getForecast', 'search_tools', 'call_read_tool', 'call_write_tool']);
  });

  it('refuses pinned names without a tool, and pinned tools with the names of the search', () => {
    expect(() => withToolSearch(tools, { pinned: ['weather'] })).toThrow(/cannot pin 'weather'/);
    const search_tools = tools.github_create_issue;
    expect(() => withToolSearch({ search_tools }, { pinned: ['search_tools'] })).toThrow(/'search_tools'/);
  });

  it('describes two results whole, and the others in a line', async () => {
    const inputSchema = {
      type: 'object',
      properties: { title: { type: 'string' }, body: { type: 'string' } },
      required: ['title'],
    };
    const description = 'Creates an issue. It appears at once.';
    const names = ['issue_create_a', 'issue_create_b', 'issue_create_c'];
    const many = Object.fromEntries(names.map((name) => [name, echo(name, description, { inputSchema })]));
    const found = await withToolSearch(many)['search_tools']?.execute?.({ query: 'create an issue' } as never);
    const { tools: results } = found as { tools: object[] };
    expect(results.slice(0, 2)).toEqual([
      { name: names[0], description, inputSchema: expect.objectContaining(inputSchema), call: 'call_write_tool' },
      { name: names[1], description, inputSchema: expect.objectContaining(inputSchema), call: 'call_write_tool' },
    ]);
    expect(results[2]).toEqual({
      name: names[2],
      description: 'Creates an issue.',
      parameters: 'title, body?',
      call: 'call_write_tool',
    });
  });

  it.each(majors)('finds and calls tools in AI SDK $version', async (major) => {
    const { model, calls } = major.createModel([
      { call: 'search_tools', input: { query: 'read a file' } },
      { call: 'call_read_tool', input: { name: 'filesystem_readFile', arguments: { target: 'a.txt' } } },
      { call: 'call_read_tool', input: { name: 'filesystem_readFile', arguments: {} } },
      { say: 'done' },
    ]);
    const { text } = await major.generate({ model, tools: withToolSearch(tools, { maxResults: 1 }), prompt: 'go' });
    expect(text).toBe('done');
    expect(calls()[0]?.tools?.map(({ name }) => name)).toEqual(['search_tools', 'call_read_tool', 'call_write_tool']);
    const [found, read, invalid] = toolResultsSeenBy(calls());
    const inputSchema = { required: ['target'] };
    expect(found).toMatchObject({
      value: { tools: [{ name: 'filesystem_readFile', call: 'call_read_tool', inputSchema }] },
    });
    expect(read).toEqual({ type: 'json', value: { ran: 'read', target: 'a.txt' } });
    expect(JSON.stringify(invalid)).toContain('target');
  });

  it.each(majors)('defers tools in AI SDK $version, which finds them in 7', async (major) => {
    const deferred = withToolSearch(tools, { mode: 'defer', pinned: ['weather_getForecast'] });
    expect(deferred['github_create_issue']).toMatchObject({ deferLoading: true, description: expect.any(String) });
    expect(deferred['weather_getForecast']).toBe(tools.weather_getForecast);
    if (major.version !== 7) return;
    const { model, calls } = major.createModel([
      { call: 'find', input: { query: 'delete a file' } },
      { call: 'filesystem_deleteFile', input: { target: 'a.txt' } },
      { say: 'done' },
    ]);
    const find = toolSearch({ search: searchTools(deferred), maxResults: 1 });
    await major.generate({ model, tools: { ...deferred, find }, prompt: 'go' });
    const offered = calls().map((call) => call.tools?.map(({ name }) => name));
    expect(offered[0]).toEqual(['weather_getForecast', 'find']);
    expect(offered[1]).toEqual(['filesystem_deleteFile', 'weather_getForecast', 'find']);
    expect(toolResultsSeenBy(calls())[1]).toEqual({ type: 'json', value: { ran: 'delete', target: 'a.txt' } });
  });

  it('separates reading from writing, and says which one to use', async () => {
    const { call_read_tool: read, call_write_tool: write } = withToolSearch(tools) as Record<string, Tool>;
    const call = { name: 'filesystem_deleteFile', arguments: { target: 'a.txt' } };
    await expect(read?.execute(call)).rejects.toThrow(/call it with call_write_tool/);
    expect(await write?.execute(call)).toEqual({ ran: 'delete', target: 'a.txt' });
    await expect(write?.execute({ name: 'toString' })).rejects.toThrow(/no tool 'toString'/);
  });

  it('asks for the approval of the tool, and converts its output', async () => {
    const drop = echo('drop', 'Drops a table', {
      requireApproval: (input: { target: string }) => input.target === 'users',
      toModelOutput: () => ({ type: 'text', value: 'dropped' }),
    } as never);
    const { call_write_tool: write } = withToolSearch({ drop }) as Record<string, Tool>;
    const needs = (target: string): unknown =>
      ((write as Tool).needsApproval as (input: unknown, options: unknown) => unknown)(
        { name: 'drop', arguments: { target } },
        { toolCallId: '1', messages: [] },
      );
    expect(await needs('users')).toBe(true);
    expect(await needs('drafts')).toBe(false);
    const { model, calls } = (majors.at(-1) as (typeof majors)[number]).createModel([
      { call: 'call_write_tool', input: { name: 'drop', arguments: { target: 'drafts' } } },
      { say: 'done' },
    ]);
    await majors.at(-1)?.generate({ model, tools: withToolSearch({ drop }), prompt: 'go' });
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'text', value: 'dropped' }]);
  });
});
