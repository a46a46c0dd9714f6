// Folder, embedder and store of every worker. The jobs name only paths.
import { createLexicalEmbedder, type IngestPartOptions } from '@quiver/rag';
import { loadDocuments } from '@quiver/loaders';
import { PgVector } from '@quiver/rag/pg';

const { FOLDER = 'docs', INDEX = 'guides', QUIVER_POSTGRES_URL } = process.env;
if (!QUIVER_POSTGRES_URL) throw new Error('Set QUIVER_POSTGRES_URL to a PostgreSQL database with pgvector.');

export const folder: string = FOLDER;
export const indexName: string = INDEX;
export const postgresUrl: string = QUIVER_POSTGRES_URL;
export const store: PgVector = new PgVector({ id: 'guides', connectionString: postgresUrl });

export const partOptions: IngestPartOptions = {
  load: (paths, { signal }) => loadDocuments(folder, { paths, ...(signal && { signal }) }),
  store,
  embedder: createLexicalEmbedder(),
};
