// Writes the version of the packages into their sources, after `changeset version` has changed it. MCPClient sends it to servers, and
// `ingest` compares chunks again after an update.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('packages/mcp/package.json', 'utf8'));
const file = 'packages/mcp/src/client/config/client-info.ts';
writeFileSync(file, readFileSync(file, 'utf8').replace(/(name: 'quiver', version: )'[^']*'/, `$1'${version}'`));

const knownDocuments = 'packages/rag/src/ingestion/known-documents.ts';
writeFileSync(
  knownDocuments,
  readFileSync(knownDocuments, 'utf8').replace(/(packageVersion = )'[^']*'/, `$1'${version}'`),
);
