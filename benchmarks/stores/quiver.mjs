// Calls of a store of Quiver, as the benchmark makes them.
export function quiverSystem(store, indexName) {
  const ids = (matches) => matches.map(({ id }) => id);
  return {
    upsert: (records) =>
      store.upsert({
        indexName,
        ids: records.map(({ id }) => id),
        vectors: records.map(({ vector }) => vector),
        metadata: records.map(({ metadata }) => metadata),
        documents: records.map(({ document }) => document),
      }),
    query: async (queryVector, hundredth) =>
      ids(await store.query({ indexName, queryVector, ...(hundredth !== undefined && { filter: { hundredth } }) })),
    keyword: async (queryText) => ids(await store.query({ indexName, mode: 'keyword', queryText })),
    close: () => store.close(),
  };
}
