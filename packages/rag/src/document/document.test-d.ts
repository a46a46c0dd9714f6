import { describe, expectTypeOf, test } from 'vitest';
import type { Chunk } from './chunk.js';
import { MDocument } from './document.js';

describe('the types of a document', () => {
  test('offsets of a chunk are numbers, other metadata is unknown', () => {
    expectTypeOf<Chunk['metadata']['startIndex']>().toEqualTypeOf<number>();
    expectTypeOf<Chunk['metadata']['headings']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<Chunk['metadata']['source']>().toEqualTypeOf<unknown>();
  });

  test('options belong to their strategy', () => {
    const document = MDocument.fromText('');
    expectTypeOf(document.chunk({ maxSize: 100 })).resolves.toEqualTypeOf<Chunk[]>();
    void document.chunk({ strategy: 'recursive', size: 512, overlap: 50, separator: '\n' });
    // @ts-expect-error Markdown is cut at its blocks
    void document.chunk({ strategy: 'markdown', separators: ['\n'] });
    // @ts-expect-error no such option
    void document.chunk({ strategy: 'recursive', chunkSize: 100 });
    // @ts-expect-error no such strategy
    void document.chunk({ strategy: 'magic' });
  });

  test('every strategy has its options', () => {
    const document = new MDocument({ text: '', language: 'ts' });
    void document.chunk({ strategy: 'html', headers: [['h1', 'title']], sections: [['section', 'part']] });
    void document.chunk({ strategy: 'token', encodingName: 'o200k_base', allowedSpecial: 'all' });
    void document.chunk({ strategy: 'sentence', lengthFunction: (text) => text.length, sentenceEnders: ['.'] });
    void document.chunk({ strategy: 'recursive', language: 'python', extract: { llm: 'openai/gpt-5.1', title: true } });
    // @ts-expect-error tokens are counted, not measured
    void document.chunk({ strategy: 'token', lengthFunction: (text: string) => text.length });
    // @ts-expect-error no such language
    void document.chunk({ strategy: 'recursive', language: 'klingon' });
    expectTypeOf(
      document.extractMetadata({ llm: 'openai/gpt-5.1', summary: { summaries: ['prev'] } }),
    ).resolves.toEqualTypeOf<MDocument>();
    // @ts-expect-error no such extractor
    void document.extractMetadata({ llm: 'openai/gpt-5.1', titel: true });
  });

  test('a document is made of one text, or of several', () => {
    expectTypeOf(new MDocument({ text: 'a', metadata: { source: 'a' } })).toEqualTypeOf<MDocument>();
    expectTypeOf(new MDocument({ docs: [{ text: 'a' }], type: 'markdown' })).toEqualTypeOf<MDocument>();
    // @ts-expect-error a document needs a text
    void new MDocument({ metadata: {} });
  });
});
