// An MCP server over HTTP whose tool searches an index. Prints its URL.
import { MCPServer } from '@quiver/mcp/server';
import { createLexicalEmbedder, createVectorQueryTool, ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { startTelemetry } from './telemetry.ts';

const [file = ''] = process.argv.slice(2);
const vectorStore = new LocalVector();
const model = createLexicalEmbedder();
const texts = ['Green tea wants water of 80 degrees.', 'Coffee wants water of 94 degrees.'];
const documents = texts.map((text, index) => MDocument.fromText(text, { source: `note-${index}` }));
await ingest({ documents, vectorStore: vectorStore, indexName: 'notes', model: model });

startTelemetry('search', file);
const search = createVectorQueryTool({ id: 'search', vectorStore, indexName: 'notes', model });
const server = new MCPServer({ name: 'search', version: '1.0.0', tools: { search } });
console.log((await server.listen()).url);
// The parent ends this process by closing its standard input.
process.stdin.resume().on('end', () => void server.close().then(() => process.exit()));
