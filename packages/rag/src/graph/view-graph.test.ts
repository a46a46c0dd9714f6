import { describe, expect, it } from 'vitest';
import { LocalVector } from '../stores/local/index.js';
import { facts, fill, idsOf, indexName, model, toolOver } from '../tools/graph-rag.fixture.js';
import { viewGraph } from './view-graph.js';

describe('viewGraph', () => {
  const queryText = 'Where works Ada Quill?';

  it('returns the results of the tool with their paths, and each connection once', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const view = await viewGraph({ store, indexName, model, queryText, seeds: 'keyword' });
    const { sources } = await toolOver(store, { seeds: 'keyword' }).execute({ queryText }, { onFailure: 'throw' });
    expect(view.query).toBe(queryText);
    expect(view.ranking).toEqual(sources.map(({ id, score, path }) => ({ id, score, path })));
    expect(view.nodes.map(({ id, title, text }) => [id, title, text])).toEqual(
      ['ada', 'institute', 'otto'].map((id) => [id, facts[id], facts[id]]),
    );
    expect(view.nodes.filter(({ seedScore }) => seedScore !== undefined).map(({ id }) => id)).toEqual(['ada']);
    expect(view.edges.map(({ from, to, kind }) => [from, to, kind])).toEqual([
      ['ada', 'institute', 'phrase'],
      ['institute', 'otto', 'phrase'],
    ]);
  });

  it('shows nothing that its filter leaves out', async () => {
    await using store = new LocalVector();
    await fill(store, facts, { open: true });
    await store.updateVector({ indexName, id: 'institute', update: { metadata: { open: false } } });
    for (const maxNodes of [0, 100]) {
      const options = { store, indexName, model, queryText, filter: { open: true }, graphOptions: { maxNodes } };
      const { nodes, ranking } = await viewGraph(options);
      expect(idsOf(nodes)).toContain('ada');
      expect([...idsOf(nodes), ...idsOf(ranking)]).not.toContain('institute');
    }
  });

  it('shortens titles of any length, between characters', async () => {
    await using store = new LocalVector();
    const long = `${'a'.repeat(58)}😀${' b'.repeat(100_000)}`;
    await fill(store, { text: long });
    await fill(store, { heading: 'Short.' }, { headings: ['Top', long] });
    await fill(store, { title: 'Short.' }, { title: long });
    const { nodes } = await viewGraph({ store, indexName, model, queryText: 'Short', seeds: 'vector' });
    expect(nodes.map(({ title }) => title)).toEqual(Array.from({ length: 3 }, () => `${'a'.repeat(58)}…`));
  });

  it('removes Markdown from titles', async () => {
    await using store = new LocalVector();
    await fill(store, { a: '## **Ada** `Quill` | see [the *map*](map.md)' });
    const { nodes } = await viewGraph({ store, indexName, model, queryText: 'Ada Quill' });
    expect(nodes.map(({ title }) => title)).toEqual(['Ada Quill see the *map*']);
  });

  it('refuses bad numbers', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    await expect(viewGraph({ store, indexName, model, queryText, topK: 0 })).rejects.toMatchObject({
      code: 'GRAPH_INVALID',
    });
  });
});
