import { afterAll, expect, it } from 'vitest';
import { describeVectorStore } from '../../testing/describe-vector-store.js';
import { PgVector } from './index.js';
import { pgliteForTests, postgresForTests, postgresUrl } from './open-stores.fixture.js';

const databases = [pgliteForTests(), ...(postgresUrl === undefined ? [] : [postgresForTests(postgresUrl)])];
afterAll(() => Promise.all(databases.map((database) => database.close())));

for (const database of databases) {
  describeVectorStore(
    `PgVector on ${database.name}`,
    async () => new PgVector(await database.open()),
    (store) => store.close(),
  );
}

it.skipIf(postgresUrl === undefined)('QUIVER_POSTGRES_URL names a server with pgvector to test on', () => {
  expect(databases).toHaveLength(2);
});
