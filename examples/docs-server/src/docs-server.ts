import { MCPServer } from '@quiver/mcp';
import {
  createGraphRAGTool,
  createLexicalEmbedder,
  createVectorQueryTool,
  toEmbedder,
  type Embedder,
} from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

/** An index in a folder. The members have the names that every function of `@quiver/rag` takes. */
export interface Index {
  vectorStore: LocalVector;
  indexName: string;
  model: Embedder;
}

/** Opens the index of a folder, for OpenAI's embedding model if `OPENAI_API_KEY` is set, otherwise for an embedder that compares words. */
export function openIndex(folder: string): Index {
  const model = process.env['OPENAI_API_KEY'] ? toEmbedder('openai/text-embedding-3-small') : createLexicalEmbedder();
  // Vectors of different models are not comparable, so each model has a separate index.
  return { vectorStore: new LocalVector({ path: folder }), indexName: model.id.replaceAll(/[^a-z0-9]+/gi, '-'), model };
}

/** Returns an MCP server with two tools over an index: `searchDocs`, and `exploreDocs`, which also follows graph edges. */
export function createDocsServer(index: Index): MCPServer {
  const searchDocs = createVectorQueryTool({
    ...index,
    id: 'searchDocs',
    description: 'Searches the documents. Returns the best passages with their file, heading path and character range.',
    // Hybrid search finds names and error codes as reliably as paraphrases.
    mode: 'hybrid',
  });
  const exploreDocs = createGraphRAGTool({
    ...index,
    id: 'exploreDocs',
    description:
      'Finds passages that answer a question together: those that match it, and those connected with them by links, shared names and order, each with the path that led there. For questions whose answer is spread over several documents.',
  });
  return new MCPServer({
    id: 'docs',
    name: 'Docs',
    version: '1.0.0',
    instructions:
      'Call searchDocs before answering questions about the documents, exploreDocs where the answer is spread over several, and cite file and heading.',
    tools: { searchDocs, exploreDocs },
  });
}
