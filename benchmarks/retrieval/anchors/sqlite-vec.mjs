import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as sqliteVec from 'sqlite-vec';

const { searchParams } = new URL(import.meta.url);
const isInMemory = searchParams.has('memory');
/** Whether `part` is the partition key: a query then compares only the rows of one part. */
const isPartitioned = searchParams.has('partitioned');

export const name = `sqlite-vec 0.1.9${isPartitioned ? ', partition key' : ''}${isInMemory ? ', :memory:' : ''}`;

/** Connection to the in-memory database, which exists as long as the connection. */
let memory;

function connect(folder) {
  if (memory) return memory;
  const database = new DatabaseSync(isInMemory ? ':memory:' : join(folder, 'rows.db'), { allowExtension: true });
  sqliteVec.load(database);
  if (isInMemory) memory = database;
  return database;
}

export async function fill(folder, vectors) {
  const database = connect(folder);
  const part = `part integer${isPartitioned ? ' partition key' : ''}`;
  database.exec(
    `create virtual table rows using vec0(embedding float[${vectors[0].length}] distance_metric=cosine, ${part})`,
  );
  const insert = database.prepare('insert into rows(rowid, embedding, part) values (?, ?, ?)');
  database.exec('begin');
  for (const [row, vector] of vectors.entries())
    insert.run(BigInt(row), new Uint8Array(vector.buffer), BigInt(row % 100));
  database.exec('commit');
  if (!isInMemory) database.close();
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
    close: async () => {
      if (!isInMemory) database.close();
    },
  };
}
