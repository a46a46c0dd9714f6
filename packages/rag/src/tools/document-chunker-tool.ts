import { anyValue, checkOptions, type OptionChecks, valueThat, required } from '@quiver/core/internal';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolCallOptions } from '@quiver/core/tools';
import type { Chunk } from '../document/chunk.js';
import type { ChunkParams } from '../document/chunking/chunking-strategy.js';
import type { MDocument } from '../document/document.js';

/** A chunk as the tool returns it. */
export type DocumentChunk = Chunk;

/** Options of `createDocumentChunkerTool()`. */
export interface DocumentChunkerToolOptions {
  /** Document that the tool splits. */
  doc: MDocument;
  /** Default `{ strategy: 'recursive', size: 512, overlap: 50, separator: '\n' }`; what is left out is taken from there. */
  params?: ChunkParams;
}

/** Output of a document chunker tool. */
export interface DocumentChunkerOutput {
  chunks: DocumentChunk[];
}

/** Tool that `createDocumentChunkerTool()` returns. */
export interface DocumentChunkerTool extends Omit<Tool<JsonSchema, JsonSchema, DocumentChunkerOutput>, 'execute'> {
  readonly execute: (input?: Record<string, never>, options?: ToolCallOptions) => Promise<DocumentChunkerOutput>;
}

const checks: OptionChecks<DocumentChunkerToolOptions> = {
  doc: required(valueThat((value) => typeof (value as MDocument | null)?.chunk === 'function', 'an MDocument')),
  // Checked by `chunk()`.
  params: anyValue,
};
const defaultSize = 512;
const defaultOverlap = 50;

/**
 * Creates a tool that splits one document into chunks. It has no input.
 *
 * Its id is `Document Chunker {strategy} {size}`.
 *
 * @throws `OPTIONS_INVALID` for an unknown option and without a document; from `execute`, for an unknown strategy or option in `params`, or an
 *   invalid value
 * @example
 * const chunker = createDocumentChunkerTool({ doc, params: { strategy: 'recursive', size: 512, overlap: 50, separator: '\n' } });
 * const { chunks } = await chunker.execute();
 */
export function createDocumentChunkerTool(given: DocumentChunkerToolOptions): DocumentChunkerTool {
  checkOptions('createDocumentChunkerTool', given, checks);
  const { doc, params = {} } = given;
  const { strategy = 'recursive' } = params;
  const maxSize = params.maxSize ?? params.size ?? defaultSize;
  const overlap = params.overlap ?? Math.min(defaultOverlap, Math.floor(maxSize / 4));
  const hasSeparators = ['separator', 'separators', 'language'].some((name) => name in params);
  // Checked when they are used; here a union of option objects is only filled in.
  const options = {
    ...params,
    strategy,
    ...(params.size === undefined && { maxSize }),
    overlap,
    ...(strategy === 'recursive' && !hasSeparators && { separator: '\n' }),
  } as ChunkParams;
  return createTool({
    id: `Document Chunker ${strategy} ${maxSize}`,
    description: `Chunks document using ${strategy} strategy with size ${maxSize} and ${overlap} overlap`,
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema,
    mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
    execute: async (): Promise<DocumentChunkerOutput> => ({ chunks: await doc.chunk(options) }),
  });
}

const outputSchema: JsonSchema = {
  type: 'object',
  properties: {
    chunks: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          text: { type: 'string' },
          content: { type: 'string', description: 'The same as text.' },
          metadata: { type: 'object' },
        },
        required: ['id', 'text', 'content', 'metadata'],
      },
    },
  },
  required: ['chunks'],
};
