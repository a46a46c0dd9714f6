import { loadDocuments } from '@quiver/loaders';
import { MCPServer } from '@quiver/mcp/server';
import {
  createLexicalEmbedder,
  createVectorQueryTool,
  ingest,
} from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

const [folder = '.'] = process.argv.slice(2);
const index = {
  vectorStore: new LocalVector(),
  indexName: 'notes',
  model: createLexicalEmbedder(),
};
await ingest({ ...index, documents: loadDocuments(folder) });

const searchNotes = createVectorQueryTool({
  ...index,
  id: 'searchNotes',
  description: 'Searches my notes. Cite the number of a passage, such as [1].',
  mode: 'hybrid',
});
const server = new MCPServer({
  name: 'Notes',
  version: '1.0.0',
  tools: { searchNotes },
});
await server.startStdio();
