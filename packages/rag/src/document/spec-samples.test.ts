import { getToolId } from '@quiver/core/tools';
import { createDocumentChunkerTool, MDocument } from '@quiver/rag';
import { createDocumentChunkerTool as createV0DocumentChunkerTool } from '@quiver/rag/compat';
import { describe, expect, test } from 'vitest';

/** The samples of the specification, section createDocumentChunkerTool, with the scope replaced, each followed by what its text promises. */

const longDocumentContent = 'A sentence of a technical text, with a few words in it.\n\n'.repeat(100);

describe.each([
  ['@quiver/rag', createDocumentChunkerTool],
  ['@quiver/rag/compat', createV0DocumentChunkerTool],
])('createDocumentChunkerTool of %s', (_entry, create) => {
  test('Basic Usage', async () => {
    const document = new MDocument({
      text: 'Your document content here...',
      metadata: { source: 'user-manual' },
    });

    const chunker = create({
      doc: document,
      params: {
        strategy: 'recursive',
        size: 512,
        overlap: 50,
        separator: '\n',
      },
    });

    const { chunks } = await chunker.execute();

    expect(chunks).toMatchObject([{ content: 'Your document content here...', metadata: { source: 'user-manual' } }]);
  });

  test('Example with Custom Parameters', async () => {
    const technicalDoc = new MDocument({
      text: longDocumentContent,
      metadata: {
        type: 'technical',
        version: '1.0',
      },
    });

    const chunker = create({
      doc: technicalDoc,
      params: {
        strategy: 'recursive',
        size: 1024, // Larger chunks
        overlap: 100, // More overlap
        separator: '\n\n', // Split on double newlines
      },
    });

    const { chunks } = await chunker.execute();

    const lines: string[] = [];
    // Process the chunks
    chunks.forEach((chunk, index) => {
      lines.push(`Chunk ${index + 1} length: ${chunk.content.length}`);
    });

    expect(lines.length).toBeGreaterThan(5);
    for (const [index, { content, metadata }] of chunks.entries()) {
      expect(content.length).toBeLessThanOrEqual(1024);
      expect(content).toMatch(/in it\.$/);
      expect(metadata).toMatchObject({ type: 'technical', version: '1.0' });
      const before = chunks[index - 1]?.metadata.endIndex ?? 0;
      expect(before - metadata.startIndex).toBeLessThanOrEqual(100);
    }
  });

  test('Tool Details', async () => {
    const doc = new MDocument({ text: 'One.\nTwo.' });
    const chunker = create({ doc, params: { strategy: 'recursive', size: 512, overlap: 50 } });
    expect(getToolId(chunker)).toBe('Document Chunker recursive 512');
    expect(chunker.description).toBe('Chunks document using recursive strategy with size 512 and 50 overlap');
    expect(await chunker.execute({})).toMatchObject({ chunks: [{ content: 'One.\nTwo.' }] });
    const byDefault = create({ doc });
    expect(getToolId(byDefault)).toBe('Document Chunker recursive 512');
    expect(byDefault.description).toBe('Chunks document using recursive strategy with size 512 and 50 overlap');
  });
});
