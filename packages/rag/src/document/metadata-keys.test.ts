import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest } from '../ingest/ingest.js';
import { LocalVector } from '../stores/local/index.js';
import { MDocument } from './document.js';
import type { ChunkParams } from './chunking/chunking-strategy.js';
import { metadataKeys } from './metadata-keys.js';

const guide = readFileSync(new URL('../../../../docs/guides/documents.md', import.meta.url), 'utf8');

describe('metadata keys', () => {
  it('are those of the table in the guide, with the same writers', () => {
    const table = /^\| metadata +\| written by[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/m.exec(guide)?.[1] ?? '';
    const rows = table
      .trim()
      .split('\n')
      .flatMap((row) => {
        const [, names = '', writer = ''] = row.split('|');
        return Array.from(names.matchAll(/`(\w+)`/g), ([, name = '']) => [name, writer.trim()]);
      });
    const expected = Object.entries(metadataKeys).map(([name, { writer }]) => [name, writer]);
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  it('contain each key that chunking and ingestion write', async () => {
    const store = new LocalVector();
    const write = async (document: MDocument, params: ChunkParams): Promise<void> => {
      await ingest({
        documents: [document],
        vectorStore: store,
        indexName: 'docs',
        model: createLexicalEmbedder({ dimension: 64 }),
        scope: { tenant: 'a' },
        chunkOptions: params,
        vectors: ({ text }) => [`About ${text}`],
      });
    };
    const place = { start: 0, end: 5, page: 1, box: [0, 0, 9, 9] } as const;
    const paged = {
      text: '# One\n\nTwo two.\n',
      metadata: { source: 'a.md' },
      places: [place, { ...place, start: 7, end: 15, page: 2 }],
    };
    await write(new MDocument({ type: 'markdown', docs: [paged] }), { strategy: 'semantic-markdown' });
    await write(MDocument.fromHTML('<h1>One</h1><p>Two.</p>', { source: 'a.html' }), { strategy: 'html' });
    await write(MDocument.fromJSON('{"one": "two"}', { source: 'a.json' }), { strategy: 'json' });
    await write(MDocument.fromText('let one = 2;', { source: 'a.js' }), { strategy: 'recursive', language: 'js' });
    const { records } = await store.listVectors({ indexName: 'docs', limit: 100 });
    const written = new Set(records.flatMap(({ metadata }) => Object.keys(metadata)));
    expect([...written].filter((key) => !Object.hasOwn(metadataKeys, key))).toEqual(['tenant']);
    for (const key of ['endPage', 'pointer', 'codeLanguage', 'tokenCount', 'vectorOf', 'scopeKeys'])
      expect(written).toContain(key);
  });
});
