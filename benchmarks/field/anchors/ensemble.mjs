// Hybrid search as the guides of LangChain.js show it: BM25Retriever and a vector store in an EnsembleRetriever with equal weights.
import { Document } from '@langchain/core/documents';
import { BaseRetriever } from '@langchain/core/retrievers';
import { EnsembleRetriever } from '@langchain/classic/retrievers/ensemble';
import { MemoryVectorStore } from '@langchain/classic/vectorstores/memory';
import { BM25Retriever } from '@langchain/community/retrievers/bm25';

const depth = 10;

/** BM25Retriever compares all texts for every query: its results are kept for the next embedder. */
class KnownResults extends BaseRetriever {
  lc_namespace = ['quiver', 'benchmarks'];
  #results = new Map();

  constructor(retriever) {
    super();
    this.retriever = retriever;
  }

  async _getRelevantDocuments(query) {
    if (!this.#results.has(query)) this.#results.set(query, await this.retriever.invoke(query));
    return this.#results.get(query);
  }
}

/** @returns a function that returns, for an embedder and the vectors of the texts, a search that returns the places of texts, best first */
export function openEnsemble(texts) {
  const documents = texts.map((pageContent, place) => new Document({ pageContent, metadata: { place } }));
  const words = new KnownResults(BM25Retriever.fromDocuments(documents, { k: depth }));
  return async ({ embedQuery, vectors }) => {
    const store = new MemoryVectorStore({ embedQuery, embedDocuments: () => Promise.resolve([]) });
    await store.addVectors(vectors, documents);
    const retriever = new EnsembleRetriever({ retrievers: [words, store.asRetriever(depth)], weights: [0.5, 0.5] });
    return async (question) => (await retriever.invoke(question)).map(({ metadata }) => metadata.place);
  };
}
