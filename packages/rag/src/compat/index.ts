import { acceptV0Calls, type V0Call } from '@quiver/core/compat';
import type { Tool, ToolCallOptions } from '@quiver/core/tools';
import {
  createDocumentChunkerTool as createChunker,
  type DocumentChunkerTool,
  type DocumentChunkerToolOptions,
} from '../tools/document-chunker-tool.js';
import {
  createGraphRAGTool as createGraph,
  type GraphRAGTool,
  type GraphRAGToolOptions,
} from '../tools/graph-rag-tool.js';
import type { VectorQueryInput } from '../tools/query-call.js';
import type { VectorQueryToolOptions } from '../tools/query-tool-options.js';
import { createVectorQueryTool as createQuery, type VectorQueryTool } from '../tools/vector-query-tool.js';

/** A tool that accepts calls of the v0 API, `execute({ context, runtimeContext })`, and calls of the current API. */
export type V0RagTool<Wrapped extends { execute: (...args: never[]) => unknown }, Input> = Omit<Wrapped, 'execute'> & {
  readonly execute: Wrapped['execute'] &
    ((call: V0Call<Input>, options?: ToolCallOptions) => ReturnType<Wrapped['execute']>);
};

/** Creates the tool of `createVectorQueryTool` in `@quiver/rag`, which also accepts calls of the v0 API. */
export function createVectorQueryTool(options: VectorQueryToolOptions): V0RagTool<VectorQueryTool, VectorQueryInput> {
  return withV0Calls(createQuery(options));
}

/** Creates the tool of `createGraphRAGTool` in `@quiver/rag`, which also accepts calls of the v0 API. */
export function createGraphRAGTool(options: GraphRAGToolOptions): V0RagTool<GraphRAGTool, VectorQueryInput> {
  return withV0Calls(createGraph(options));
}

/** Creates the tool of `createDocumentChunkerTool` in `@quiver/rag`, which also accepts calls of the v0 API. */
export function createDocumentChunkerTool(
  options: DocumentChunkerToolOptions,
): V0RagTool<DocumentChunkerTool, Record<string, never>> {
  return withV0Calls(createChunker(options));
}

function withV0Calls<Wrapped extends { execute: (...args: never[]) => unknown }, Input>(
  tool: Wrapped,
): V0RagTool<Wrapped, Input> {
  // Our tools are tools of core, with more exact types of `execute` that its own types cannot be inferred from.
  return acceptV0Calls(tool as unknown as Tool) as unknown as V0RagTool<Wrapped, Input>;
}
