import { describeVectorStore } from '@quiver/devtools/stores';
import { describeLanguage, describeWords } from '../describe-words.fixture.js';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

const { databases } = databasesForTests();

for (const database of databases) {
  describeVectorStore(
    `PgVector on ${database.name}`,
    async () => new PgVector(await database.open()),
    (store) => store.close(),
  );
  describeLanguage(
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
