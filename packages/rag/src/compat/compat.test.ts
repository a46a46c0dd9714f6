import { RuntimeContext } from '@quiver/core/compat';
import { executeTool } from '@quiver/core/tools';
import { describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest } from '../ingest/ingest.js';
import { LocalVector } from '../stores/local/index.js';
import { createDocumentChunkerTool, createVectorQueryTool } from './index.js';

const doc = new MDocument({ text: 'First part.\n\nSecond part.', metadata: { source: 'manual' } });

describe('the tools of the older generation', () => {
  it('split a document, with a call of either API or without input', async () => {
    const chunker = createDocumentChunkerTool({ doc, params: { size: 15, separator: '\n\n', overlap: 0 } });
    const expected = { chunks: [{ content: 'First part.' }, { content: 'Second part.' }] };
    expect(await chunker.execute()).toMatchObject(expected);
    expect(await chunker.execute({})).toMatchObject(expected);
    expect(await chunker.execute({ context: {} })).toMatchObject(expected);
  });

  it('query a store, filtered by the runtime context', async () => {
    const model = createLexicalEmbedder();
    await using vectorStore = new LocalVector();
    const documents = ['red', 'blue'].map((team) => MDocument.fromText(`The plan of team ${team}.`, { source: team }));
    await ingest({ documents, vectorStore, indexName: 'plans', model });
    const query = createVectorQueryTool({ vectorStore, indexName: 'plans', model });
    const runtimeContext = new RuntimeContext<{ filter: object }>();
    runtimeContext.set('filter', { source: 'blue' });
    const { sources } = await query.execute({ context: { queryText: 'plan' }, runtimeContext });
    expect(sources.map(({ document }) => document)).toEqual(['The plan of team blue.']);
    expect((await query.execute({ queryText: 'plan' })).sources).toHaveLength(2);
    expect(await executeTool(query, { queryText: 'plan' })).toMatchObject({ sources: [{}, {}] });
  });
});
