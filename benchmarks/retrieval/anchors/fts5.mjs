import { DatabaseSync } from 'node:sqlite';

export const name = `SQLite ${process.versions.sqlite} FTS5`;

export async function open(texts) {
  const startedAt = performance.now();
  const database = new DatabaseSync(':memory:');
  // The Porter stemmer, as in LocalVector.
  database.exec("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')");
  const insert = database.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [id, text] of texts.entries()) insert.run(id, text);
  database.exec('COMMIT');
  const select = database.prepare('SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?');
  return {
    seconds: (performance.now() - startedAt) / 1000,
    search: async (question, topK) =>
      select.all(
        question
          .split(' ')
          .map((word) => `"${word}"`)
          .join(' OR '),
        topK,
      ),
  };
}
