import { afterAll } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { describeVectorStore } from '@quiver/devtools/stores';
import { describeWords } from '../describe-words.fixture.js';
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
  for (const language of ['en', 'auto'])
    describeWords(
      `PgVector on ${database.name} with the language ${language}`,
      async () => new PgVector(await database.open()),
      {
        close: (store) => store.close(),
        params: { language },
      },
    );
}
