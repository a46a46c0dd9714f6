// Writes the version of the packages into their sources, after `changeset version` has changed it. MCPClient sends it to servers, and
// `ingest` compares chunks, and `loadDocuments` parses files again after an update.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('packages/mcp/package.json', 'utf8'));
const file = 'packages/mcp/src/client/config/client-info.ts';
writeFileSync(file, readFileSync(file, 'utf8').replace(/(name: 'quiver', version: )'[^']*'/, `$1'${version}'`));

for (const source of ['rag/src/ingestion/known-documents.ts', 'loaders/src/files/document-cache.ts']) {
  const path = `packages/${source}`;
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(packageVersion = )'[^']*'/, `$1'${version}'`));
}
