import { getToolId } from '@quiver/core/tools';
import { describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createDocumentChunkerTool } from './document-chunker-tool.js';

const text = 'A line of some words.\n'.repeat(100);
const doc = new MDocument({ text, metadata: { source: 'user-manual' } });

describe('createDocumentChunkerTool', () => {
  it('splits its document, without input', async () => {
    const chunker = createDocumentChunkerTool({
      doc,
      params: { strategy: 'recursive', size: 512, overlap: 50, separator: '\n' },
    });
    const { chunks } = await chunker.execute();
    expect(chunks.length).toBeGreaterThan(4);
    for (const { content, metadata } of chunks) {
      expect(content).toBe(text.slice(metadata.startIndex, metadata.endIndex));
      expect(content.length).toBeLessThanOrEqual(512);
      expect(content).toMatch(/words\.$/);
      expect(metadata['source']).toBe('user-manual');
    }
    expect(getToolId(chunker)).toBe('Document Chunker recursive 512');
    expect(chunker.description).toBe('Chunks document using recursive strategy with size 512 and 50 overlap');
  });

  it('chooses 512, 50 and line breaks by itself, and an overlap that fits a smaller size', async () => {
    expect(await createDocumentChunkerTool({ doc }).execute()).toEqual({
      chunks: await doc.chunk({ strategy: 'recursive', size: 512, overlap: 50, separator: '\n' }),
    });
    const small = createDocumentChunkerTool({ doc, params: { maxSize: 60 } });
    expect(small.description).toBe('Chunks document using recursive strategy with size 60 and 15 overlap');
    expect((await small.execute()).chunks.every(({ content }) => content.length <= 60)).toBe(true);
  });

  it('takes any strategy with its options', async () => {
    const markdown = MDocument.fromMarkdown('# A\n\na\n\n# B\n\nb');
    const chunker = createDocumentChunkerTool({
      doc: markdown,
      params: { strategy: 'markdown', headers: [['#', 'title']] },
    });
    expect((await chunker.execute({})).chunks.map(({ metadata }) => metadata['title'])).toEqual(['A', 'B']);
  });

  it('rejects a missing document', () => {
    for (const [options, message] of [
      [{}, "needs 'doc': an MDocument."],
      [{ doc: text }, "'doc' must be an MDocument, not 'A line"],
    ] as const)
      expect(() => createDocumentChunkerTool(options as never)).toThrow(message);
  });

  it('fails on options that make no sense', async () => {
    const params = { strategy: 'magic' } as unknown as { strategy: 'recursive' };
    await expect(createDocumentChunkerTool({ doc, params }).execute()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });
});
