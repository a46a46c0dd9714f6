import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as sqliteVec from 'sqlite-vec';

function connect(folder) {
  const database = new DatabaseSync(join(folder, 'rows.db'), { allowExtension: true });
  sqliteVec.load(database);
  return database;
}

export const name = 'sqlite-vec 0.1.9';

export async function fill(folder, vectors) {
  const database = connect(folder);
  database.exec(
    `create virtual table rows using vec0(embedding float[${vectors[0].length}] distance_metric=cosine, part integer)`,
  );
  const insert = database.prepare('insert into rows(rowid, embedding, part) values (?, ?, ?)');
  database.exec('begin');
  for (const [row, vector] of vectors.entries())
    insert.run(BigInt(row), new Uint8Array(vector.buffer), BigInt(row % 100));
  database.exec('commit');
  database.close();
}

export async function open(folder) {
  const database = connect(folder);
  const all = database.prepare('select rowid from rows where embedding match ? and k = ?');
  const some = database.prepare('select rowid from rows where embedding match ? and k = ? and part = ?');
  return {
    query: async (vector, topK, part) => {
      const bytes = new Uint8Array(vector.buffer);
      const rows = part === undefined ? all.all(bytes, topK) : some.all(bytes, topK, BigInt(part));
      return rows.map(({ rowid }) => Number(rowid));
    },
    close: async () => database.close(),
  };
}
