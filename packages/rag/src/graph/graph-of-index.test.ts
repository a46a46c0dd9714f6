import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefaultLogger } from '@quiver/core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import type { VectorStore } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { facts, fill, idsOf, indexName, toolOver, watched } from '../tools/graph-rag.fixture.js';
import { buildChunkGraph } from './build-chunk-graph.js';
import { callTool, idsFoundBy, inContext } from '../tools/call-tool.fixture.js';
import { buildGraph, evictUnused, type Held } from './graph-of-index.js';

describe('the graph of an index', () => {
  let path: string;
  beforeEach(async () => void (path = await newFolder()));

  const scans = (calls: readonly string[]): number => calls.filter((call) => call === 'listVectors').length;
  const keptFiles = async () => (await readdir(path)).filter((file) => file.endsWith('.qvderived'));
  const readKept = async () => readFile(join(path, (await keptFiles())[0] as string), 'utf8');

  it('is made once for calls at the same time, of any tool', async () => {
    const { store, calls } = watched(new LocalVector());
    await fill(store, facts);
    await Promise.all([1, 2, 3].flatMap(() => [toolOver(store), toolOver(store)]).map((tool) => callTool(tool, 'Ada')));
    expect(scans(calls)).toBe(1);
    await callTool(toolOver(store), 'Otto');
    expect(scans(calls)).toBe(1);
  });

  it('takes one search and at most two reads for a query', async () => {
    const { store, calls } = watched(new LocalVector());
    await fill(store, facts);
    await buildGraph({ vectorStore: store, indexName });
    calls.length = 0;
    expect(
      await idsFoundBy(toolOver(store), {
        queryText: 'Where works Ada Quill, founded by whom?',
        topK: 3,
      }),
    ).toContain('institute');
    expect(calls.filter((call) => call === 'query')).toHaveLength(1);
    expect(calls.filter((call) => call === 'get').length).toBeLessThanOrEqual(2);
  });

  it('follows additions, changes and deletions like a new graph', async () => {
    const { store, calls } = watched(new LocalVector());
    await fill(store, facts);
    const input = { queryText: 'Where works Ada Quill?', topK: 4 };
    const ask = (of: VectorStore) => callTool(toolOver(of, { seeds: 'keyword' }), input);
    await ask(store);
    await fill(store, { widow: 'Otto Lindqvist married Ines Faro.' });
    const added = await ask(store);
    expect(idsOf(added.sources)).toContain('widow');
    await store.deleteVector({ indexName, id: 'institute' });
    const removed = await ask(store);
    expect(idsOf(removed.sources)).not.toContain('otto');
    await fill(store, { pastry: 'Ada Quill bakes croissants for Ines Faro.' });
    const changed = await ask(store);
    expect(scans(calls)).toBe(4);

    await using fresh = new LocalVector();
    const { institute: _, ...rest } = facts;
    await fill(fresh, {
      ...rest,
      widow: 'Otto Lindqvist married Ines Faro.',
      pastry: 'Ada Quill bakes croissants for Ines Faro.',
    });
    expect(changed).toEqual(await ask(fresh));
  });

  it('is stored with an index in a folder, and not built again after reopening', async () => {
    await using first = new LocalVector({ path });
    await fill(first, facts);
    const expected = await callTool(toolOver(first), 'Ada Quill');
    expect(await keptFiles()).toHaveLength(1);
    await first.close();
    await using second = new LocalVector({ path });
    const { store, calls } = watched(second);
    expect(await callTool(toolOver(store), 'Ada Quill')).toEqual(expected);
    expect(scans(calls)).toBe(0);
  });

  it('is made again where the kept one is damaged', async () => {
    await using first = new LocalVector({ path });
    await fill(first, facts);
    const expected = await callTool(toolOver(first), 'Ada Quill');
    const file = join(path, (await keptFiles())[0] as string);
    const good = await readFile(file);
    const withOtherId = good.map((byte, place) => (place === good.indexOf('"institute"') + 1 ? byte ^ 1 : byte));
    const ofLaterFormat = good.toString().replace('{"format":9,', '{"format":10,');
    expect(ofLaterFormat).not.toBe(good.toString());
    const bad = ['', 'nonsense', '\u0004\u0000\u0000\u0000{}xx', good.subarray(0, -1), ofLaterFormat, withOtherId];
    for (const content of bad) {
      await writeFile(file, content);
      await using store = new LocalVector({ path });
      expect(await callTool(toolOver(store), 'Ada Quill')).toEqual(expected);
    }
  });

  it('is emptied with the deletion of any record, and not stored where a record was deleted during the build', async () => {
    await using local = new LocalVector({ path });
    const { store, before } = watched(local);
    await fill(store, facts);
    const ask = () => callTool(toolOver(store), 'Ada Quill');
    await ask();
    expect(await readKept()).toContain('"pastry"');
    await store.deleteVector({ indexName, id: 'pastry' });
    expect(await readKept()).toBe('');
    before.listVectors = () => local.deleteVector({ indexName, id: 'otto' });
    await ask();
    expect(await readKept()).toBe('');
    delete before.listVectors;
    await ask();
    expect(await readKept()).toContain('"ada"');
    expect(await readKept()).not.toMatch(/pastry|otto/i);
  });

  it('is stored for a filter again after it was emptied', async () => {
    const filter = { tenant: 'a' };
    await using first = new LocalVector({ path });
    await fill(first, facts, filter);
    await buildGraph({ vectorStore: first, indexName, filter });
    await first.deleteVector({ indexName, id: 'otto' });
    await first.close();
    await using second = new LocalVector({ path });
    const context = inContext({ filter });
    await callTool(toolOver(second), 'Ada Quill', context);
    expect(await readKept()).toContain('"ada"');
  });

  it('is that of a scope, for the same filter and a tool of the scope, too', async () => {
    const scope = { tenant: 'a' };
    const { store, calls } = watched(new LocalVector());
    await fill(store, { widow: 'Otto Lindqvist married Ines Faro.' });
    await fill(store, facts, scope);
    const { nodes } = await buildGraph({ vectorStore: store, indexName, scope });
    expect(nodes).toBe(Object.keys(facts).length);
    const context = inContext({ filter: scope });
    await callTool(toolOver(store), 'Ada Quill', context);
    await callTool(toolOver(store, { scope }), 'Otto');
    expect(scans(calls)).toBe(1);
  });

  it('is stored for a filter with the next change, where a record was added during the build', async () => {
    const filter = { tenant: 'a' };
    await using local = new LocalVector({ path });
    const { store, before } = watched(local);
    await fill(store, facts, filter);
    await buildGraph({ vectorStore: store, indexName, filter });
    const context = inContext({ filter });
    const ask = () => callTool(toolOver(store), 'Ada Quill', context);
    await fill(store, { widow: 'Otto Lindqvist married Ines Faro.' }, filter);
    before.listVectors = () => fill(local, { late: 'Ines Faro sold the pastry.' }, filter);
    await ask();
    delete before.listVectors;
    await ask();
    expect(await readKept()).toContain('"late"');
  });

  it('warns of no failure where the only caller aborts while it is stored', async () => {
    const warn = vi.spyOn(getDefaultLogger(), 'warn');
    await using local = new LocalVector({ path });
    const { store, before } = watched(local);
    await fill(store, facts);
    const controller = new AbortController();
    before.listVectors = async () => {
      vi.spyOn(local, 'version').mockImplementationOnce(() => {
        controller.abort(new Error('enough'));
        return Promise.reject(controller.signal.reason as Error);
      });
    };
    await expect(buildGraph({ vectorStore: store, indexName, signal: controller.signal })).rejects.toThrow('enough');
    await new Promise((resolve) => setTimeout(resolve));
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('is made where the kept one can be neither read nor replaced', async () => {
    await using first = new LocalVector({ path });
    await fill(first, facts);
    const expected = await callTool(toolOver(first), 'Ada Quill');
    const file = join(path, (await keptFiles())[0] as string);
    await rm(file);
    await mkdir(file);
    await using store = new LocalVector({ path });
    expect(await callTool(toolOver(store), 'Ada Quill')).toEqual(expected);
    await rm(file, { recursive: true });
  });

  it('is stored for a filter only after buildGraph built it', async () => {
    await using store = new LocalVector({ path });
    await fill(store, facts, { tenant: 'a' });
    const filter = { tenant: 'a' };
    const ask = (over: VectorStore, trusted: object) =>
      callTool(toolOver(over), 'Ada Quill', inContext({ filter: trusted }));
    for (let hour = 0; hour < 5; hour += 1) await ask(store, { $and: [filter, { until: { $not: { $lt: hour } } }] });
    const expected = await ask(store, filter);
    expect(await keptFiles()).toHaveLength(0);
    await buildGraph({ vectorStore: store, indexName, filter });
    expect(await keptFiles()).toHaveLength(1);
    await fill(store, { widow: 'Otto Lindqvist married Ines Faro.' }, { tenant: 'b' });
    await ask(store, filter);
    await store.close();
    await using second = new LocalVector({ path });
    const { store: reopened, calls } = watched(second);
    expect(await ask(reopened, filter)).toEqual(expected);
    expect(scans(calls)).toBe(0);
  });

  it('is made, kept and described before the first question by buildGraph', async () => {
    await using local = new LocalVector({ path });
    const { store, calls } = watched(local);
    await fill(store, facts);
    const phases = new Set<string>();
    const built = await buildGraph({ vectorStore: store, indexName, onProgress: ({ phase }) => phases.add(phase) });
    expect(built).toEqual({ complete: true, nodes: 5, edges: expect.any(Number) });
    expect([...phases]).toEqual(['read', 'connect']);
    await callTool(toolOver(store), 'Ada');
    expect(scans(calls)).toBe(1);
  });

  it('rejects an aborted call, and completes for the other callers', async () => {
    const { store, before } = watched(new LocalVector());
    await fill(store, facts);
    let release: (() => void) | undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    before.listVectors = () => blocked;
    const controller = new AbortController();
    const gaveUp = callTool(toolOver(store), 'Ada', { abortSignal: controller.signal });
    const patient = callTool(toolOver(store), 'Ada');
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason));
    await expect(gaveUp).rejects.toBe(reason);
    release?.();
    expect((await patient).graph.nodes).toBe(5);
  });

  it('cancels a build when the last of its callers has aborted', async () => {
    const { store, calls, before } = watched(new LocalVector());
    await fill(store, facts);
    let release: (() => void) | undefined;
    before.listVectors = () => new Promise<void>((resolve) => (release = resolve));
    const controllers = [new AbortController(), new AbortController()];
    const builds = controllers.map(({ signal }) => buildGraph({ vectorStore: store, indexName, signal }));
    await expect.poll(() => calls).toContain('listVectors');
    for (const [caller, controller] of controllers.entries()) {
      controller.abort(new Error(`caller ${caller}`));
      await expect(builds[caller]).rejects.toThrow(`caller ${caller}`);
    }
    release?.();
    delete before.listVectors;
    expect((await buildGraph({ vectorStore: store, indexName })).nodes).toBe(5);
    expect(scans(calls)).toBe(2);
    await expect(buildGraph({ vectorStore: store, indexName, signal: AbortSignal.abort('too late') })).rejects.toBe(
      'too late',
    );
  });

  it('is tried again after a failure', async () => {
    const { store, before } = watched(new LocalVector());
    await fill(store, facts);
    before.listVectors = () => Promise.reject(new Error('lost connection'));
    await expect(callTool(toolOver(store), 'Ada')).rejects.toMatchObject({
      code: 'GRAPH_QUERY_FAILED',
    });
    delete before.listVectors;
    expect((await callTool(toolOver(store), 'Ada')).graph.complete).toBe(true);
  });
});

describe('evictUnused', () => {
  async function holdGraph(nodes: number): Promise<Held> {
    const passages = Array.from({ length: nodes }, (_, n) => ({ id: String(n), document: '' }));
    const graph = await buildChunkGraph({ passages, vectors: new Float32Array(nodes), dimension: 1 });
    return { latest: { version: '1', graph }, task: undefined, isStored: false };
  }

  it('evicts the least recently used graphs except those that are being built', async () => {
    const graphs = new Map<string, Held>();
    for (const key of ['oldest', 'built', 'older', 'newer', 'newest']) graphs.set(key, await holdGraph(120));
    const task = { running: Promise.resolve(), controller: new AbortController(), waiting: 0 };
    graphs.set('built', { ...(graphs.get('built') as Held), task });
    evictUnused(graphs, 2 * 120);
    expect([...graphs.keys()]).toEqual(['built', 'newer', 'newest']);
    evictUnused(graphs, 3 * 120);
    expect(graphs.size).toBe(3);
  });

  it('keeps a bounded number of empty graphs', async () => {
    const graphs = new Map<string, Held>();
    for (let tenant = 0; tenant < 30; tenant += 1) graphs.set(`empty${tenant}`, await holdGraph(0));
    evictUnused(graphs, 1000);
    expect(graphs.size).toBe(10);
  });

  it('frees every graph after a call with maxCachedNodes: 0', async () => {
    const { store, calls } = watched(new LocalVector());
    await fill(store, facts);
    const reads = () => calls.filter((call) => call === 'listVectors').length;
    const ask = (graphOptions: object) => callTool(toolOver(store, { graphOptions }), 'Ada');
    const kept = [await ask({}), await ask({})];
    expect(reads()).toBe(1);
    expect(await ask({ maxCachedNodes: 0 })).toEqual(kept[0]);
    await ask({});
    expect(reads()).toBe(2);
  });
});

describe('an index that is too large to be held', () => {
  it('is explored from the seeds in a bounded number of queries, and the report is not complete', async () => {
    const { store, calls } = watched(new LocalVector());
    const noise = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`noise${n}`, `The market in town ${n} sells ${n * 7} apples.`]),
    );
    await fill(store, { ...facts, ...noise });
    const tool = toolOver(store, { seeds: 'keyword', graphOptions: { maxNodes: 100 } });
    const { sources, graph } = await callTool(tool, { queryText: 'Where works Ada Quill?', topK: 3 });
    expect(idsOf(sources)).toEqual(['ada', 'institute', 'otto']);
    expect(graph.complete).toBe(false);
    expect(graph.nodes).toBeLessThan(250);
    expect(calls.filter((call) => call === 'query').length).toBeLessThanOrEqual(21);
    expect(scans(calls)).toBe(0);
    expect(await buildGraph({ vectorStore: store, indexName, graphOptions: { maxNodes: 100 } })).toMatchObject({
      complete: false,
      nodes: 0,
    });
  });

  const scans = (calls: readonly string[]): number => calls.filter((call) => call === 'listVectors').length;

  it('stays within its filter', async () => {
    await using store = new LocalVector();
    await fill(store, facts, { open: true });
    await store.updateVector({ indexName, id: 'institute', update: { metadata: { open: false } } });
    const tool = toolOver(store, { seeds: 'keyword', enableFilter: true, graphOptions: { maxNodes: 0 } });
    expect(await idsFoundBy(tool, 'Quill')).toContain('otto');
    expect(await idsFoundBy(tool, { queryText: 'Quill', filter: { open: true } })).not.toContain('institute');
  });

  it('includes every index of a store that cannot tell the version of its data', async () => {
    await using local = new LocalVector();
    await fill(local, facts);
    const store = new Proxy(local, {
      get(target, key) {
        if (key === 'version') return undefined;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { sources, graph } = await callTool(toolOver(store, { seeds: 'keyword' }), {
      queryText: 'Where works Ada Quill?',
      topK: 3,
    });
    expect(idsOf(sources)).toEqual(['ada', 'institute', 'otto']);
    expect(graph.complete).toBe(false);
  });

  it('finds nothing where nothing is', async () => {
    await using store = new LocalVector();
    await store.createIndex({ indexName, dimension: 256 });
    for (const maxNodes of [0, 10]) {
      const answer = await callTool(toolOver(store, { graphOptions: { maxNodes } }), 'Ada');
      expect(answer).toMatchObject({
        relevantContext: '',
        sources: [],
        graph: { complete: true, nodes: 0, edges: 0 },
      });
    }
  });
});
