import { afterAll } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { describeVectorStore } from '../../testing/describe-vector-store.js';
import { PgVector } from './index.js';
import { pgliteForTests, postgresForTests } from './open-stores.fixture.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const databases = [pgliteForTests(), ...(postgresUrl === undefined ? [] : [postgresForTests(postgresUrl)])];
afterAll(() => Promise.all(databases.map((database) => database.close())));

for (const database of databases) {
  describeVectorStore(
    `PgVector on ${database.name}`,
    async () => new PgVector(await database.open()),
    (store) => store.close(),
  );
}
