import { describeVectorStore } from '@quiver/devtools/stores';
import { describeRecreatedIndex } from '../describe-recreated-index.fixture.js';
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
  describeRecreatedIndex(`PgVector on ${database.name}`, async () => {
    const config = await database.open();
    return [new PgVector(config), new PgVector(config)];
  });
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
