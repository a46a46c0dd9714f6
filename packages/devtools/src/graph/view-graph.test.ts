import { describe, expect, it } from 'vitest';
import { LocalVector } from '@quiver/rag/local';
import { facts, fill, idsOf, indexName, model, toolOver } from '../../../rag/src/tools/graph-rag.fixture.ts';
import { viewGraph } from './view-graph.js';

describe('viewGraph', () => {
  const queryText = 'Where works Ada Quill?';

  it('returns the results of the tool with their paths, and each connection once', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    const view = await viewGraph({ vectorStore: store, indexName, model, queryText, seeds: 'keyword' });
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
      const options = {
        vectorStore: store,
        indexName,
        model,
        queryText,
        filter: { open: true },
        graphOptions: { maxNodes },
      };
      const { nodes, ranking } = await viewGraph(options);
      expect(idsOf(nodes)).toContain('ada');
      expect([...idsOf(nodes), ...idsOf(ranking)]).not.toContain('institute');
    }
  });

  it('names passages by heading or slide title, and by the title of their file only if no other passage has it', async () => {
    await using store = new LocalVector();
    const file = { title: 'PptxGenJS Presentation' };
    await fill(store, { slide: 'Budget 2026' }, { ...file, slide: 2, slideTitle: 'Costs' });
    await fill(store, { bare: '# Budget of the\nteam' }, { ...file, slide: 3 });
    await fill(store, { manual: 'Budget of a manual.' }, { title: 'Manual' });
    await fill(store, { one: 'Budget one.', other: 'Budget other.' }, { title: 'Report' });
    await fill(store, { tip: 'Budget tip.' }, { title: 'Guide', headings: ['Install', 'Tip'] });
    await fill(store, { tip2: 'Budget tip 2.' }, { title: 'Guide', headings: ['Remove', 'Tip'] });
    const { nodes } = await viewGraph({ vectorStore: store, indexName, model, queryText: 'Budget', seeds: 'keyword' });
    expect(Object.fromEntries(nodes.map(({ id, title }) => [id, title]))).toEqual({
      slide: 'Costs',
      bare: 'Budget of the team',
      manual: 'Manual',
      one: 'Budget one.',
      other: 'Budget other.',
      tip: 'Install › Tip',
      tip2: 'Remove › Tip',
    });
  });

  it('shortens titles of any length, between characters', async () => {
    await using store = new LocalVector();
    const long = `${'a'.repeat(58)}😀${' b'.repeat(100_000)}`;
    await fill(store, { text: long });
    await fill(store, { heading: 'Shorter.' }, { headings: ['Top', long] });
    await fill(store, { title: 'Short.' }, { title: long });
    const { nodes } = await viewGraph({ vectorStore: store, indexName, model, queryText: 'Short', seeds: 'vector' });
    expect(nodes.map(({ title }) => title)).toEqual(Array.from({ length: 3 }, () => `${'a'.repeat(58)}…`));
  });

  it('removes Markdown from titles', async () => {
    await using store = new LocalVector();
    await fill(store, { a: '## **Ada** `Quill` | see [the *map*](map.md)' });
    const { nodes } = await viewGraph({ vectorStore: store, indexName, model, queryText: 'Ada Quill' });
    expect(nodes.map(({ title }) => title)).toEqual(['Ada Quill see the *map*']);
  });

  it('refuses bad numbers', async () => {
    await using store = new LocalVector();
    await fill(store, facts);
    await expect(viewGraph({ vectorStore: store, indexName, model, queryText, topK: 0 })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });
});
