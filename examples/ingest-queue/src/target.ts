// Folder, embedder and store of every worker.
import { createLexicalEmbedder } from '@quiver/rag';
import { PgVector } from '@quiver/rag/pg';
import type { Target } from './plan.ts';

const { FOLDER = 'docs', INDEX = 'guides', QUIVER_POSTGRES_URL } = process.env;
if (!QUIVER_POSTGRES_URL) throw new Error('Set QUIVER_POSTGRES_URL to a PostgreSQL database with pgvector.');

export const postgresUrl: string = QUIVER_POSTGRES_URL;
export const store: PgVector = new PgVector({ id: 'guides', connectionString: postgresUrl });
export const target: Target = { folder: FOLDER, vectorStore: store, indexName: INDEX, model: createLexicalEmbedder() };
