// Stores one record for each line of standard input, and prints what came of it. Argument: folder.
import { createInterface } from 'node:readline';
import { isQuiverError } from '@quiver/core';
import { LocalVector } from '../index.js';

const [path] = process.argv.slice(2) as [string];
const indexName = 'docs';
const store = new LocalVector({ path });
await store.createIndex({ indexName, dimension: 2 });
for await (const id of createInterface({ input: process.stdin })) {
  const result = await store.upsert({ indexName, ids: [id], vectors: [[1, 2]] }).then(
    () => 'stored',
    (error: unknown) => (isQuiverError(error) ? error.code : String(error)),
  );
  process.stdout.write(`${result}\n`);
}
