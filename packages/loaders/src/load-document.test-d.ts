import { expectTypeOf, test } from 'vitest';
import { loadDocuments, loadPages, type LoadDocumentsOptions, type LoadPagesOptions } from './index.js';
import { loadDocument, type LoadDocumentOptions, type SkipReason } from './document.js';

test('limits are numbers, and the timeout of a page is the one of its request', () => {
  expectTypeOf(loadDocument).parameter(1).toEqualTypeOf<LoadDocumentOptions | undefined>();
  expectTypeOf<Pick<LoadDocumentOptions, 'timeout' | 'maxMemoryMb'>>().toEqualTypeOf<{
    timeout?: number;
    maxMemoryMb?: number;
  }>();
  expectTypeOf<Pick<LoadDocumentsOptions, 'timeout' | 'maxMemoryMb'>>().toEqualTypeOf<{
    timeout?: number;
    maxMemoryMb?: number;
  }>();
  expectTypeOf<Pick<LoadPagesOptions, 'requestTimeout' | 'parseTimeout' | 'maxMemoryMb'>>().toEqualTypeOf<{
    requestTimeout?: number;
    parseTimeout?: number;
    maxMemoryMb?: number;
  }>();
  void loadDocuments('docs', { timeout: 1000, maxMemoryMb: 256 });
  void loadPages([], { parseTimeout: 1000, maxMemoryMb: 256 });
  expectTypeOf<'limit exceeded'>().toExtend<SkipReason>();
});
