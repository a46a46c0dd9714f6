import { MCPServer } from '@quiver/mcp';
import { createGraphRAGTool, createVectorQueryTool, type Embedder } from '@quiver/rag';
import type { LocalVector } from '@quiver/rag/local';

export interface DocsServerOptions {
  store: LocalVector;
  indexName: string;
  embedder: Embedder;
}

/** Returns an MCP server with two tools over an index: `searchDocs`, and `exploreDocs`, which also follows graph edges. */
export function createDocsServer({ store, indexName, embedder }: DocsServerOptions): MCPServer {
  const searchDocs = createVectorQueryTool({
    id: 'searchDocs',
    description:
      'Searches the indexed Markdown documents. Returns the best passages with their file, heading path and character range.',
    vectorStore: store,
    indexName,
    model: embedder,
    // Hybrid search finds names and error codes as reliably as paraphrases.
    mode: 'hybrid',
  });
  const exploreDocs = createGraphRAGTool({
    id: 'exploreDocs',
    description:
      'Finds passages that answer a question together: those that match it, and those connected with them by links, shared names and order, each with the path that led there. For questions whose answer is spread over several documents.',
    vectorStore: store,
    indexName,
    model: embedder,
  });
  return new MCPServer({
    id: 'quiver-docs',
    name: 'Docs',
    version: '1.0.0',
    instructions:
      'Call searchDocs before answering questions about the indexed documents, exploreDocs where the answer is spread over several, and cite file and heading.',
    tools: { searchDocs, exploreDocs },
  });
}
