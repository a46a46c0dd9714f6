import { MCPServer } from '@quiver/mcp';
import { createVectorQueryTool, type Embedder } from '@quiver/rag';
import type { LocalVector } from '@quiver/rag/local';

export interface DocsServerOptions {
  store: LocalVector;
  indexName: string;
  embedder: Embedder;
}

/** An MCP server with one tool, `searchDocs`, over an index. */
export function createDocsServer({ store, indexName, embedder }: DocsServerOptions): MCPServer {
  const searchDocs = createVectorQueryTool({
    id: 'searchDocs',
    description:
      'Searches the indexed Markdown documents. Returns the best passages with their file, heading path and character range.',
    vectorStore: store,
    indexName,
    model: embedder,
    // By meaning and by words: names and error codes are found as surely as paraphrases.
    mode: 'hybrid',
  });
  return new MCPServer({
    id: 'quiver-docs',
    name: 'Docs',
    version: '1.0.0',
    instructions: 'Call searchDocs before answering questions about the indexed documents, and cite file and heading.',
    tools: { searchDocs },
  });
}
