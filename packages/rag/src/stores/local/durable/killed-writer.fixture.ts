// Writes batches until it is killed, and prints a line for each one that is safely stored. Arguments: folder, round.
import { LocalVector } from '../index.js';

const [path, round] = process.argv.slice(2) as [string, string];
const indexName = 'docs';
const store = new LocalVector({ path });
await store.createIndex({ indexName, dimension: 64 });
for (let count = 0; ; count += 1) {
  const batch = Number(round) * 1_000_000 + count;
  await store.upsert({
    indexName,
    ids: Array.from({ length: 50 }, (_, n) => `${batch}-${n}`),
    vectors: Array.from({ length: 50 }, (_, n) => Array.from({ length: 64 }, (_, position) => position + n)),
    metadata: Array.from({ length: 50 }, () => ({ batch })),
  });
  process.stdout.write('stored\n');
}
