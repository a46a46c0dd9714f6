// Search as the guides of LlamaIndex.TS show it: a VectorStoreIndex in memory and its retriever. It fuses nothing: no store in the process of
// LlamaIndex.TS 0.12 has a hybrid search, and its BM25 retriever has no other.
import { BaseEmbedding } from '@llamaindex/core/embeddings';
import { TextNode } from '@llamaindex/core/schema';
import { Settings, storageContextFromDefaults, VectorStoreIndex } from 'llamaindex';

const depth = 10;

/** Returns vectors that were made before: those of the texts in their order, and that of a query. */
class KnownVectors extends BaseEmbedding {
  constructor({ embedQuery, vectors }) {
    super();
    this.embedQuery = embedQuery;
    this.vectors = vectors.values();
  }

  getTextEmbeddings = async (texts) => texts.map(() => this.vectors.next().value);
  getTextEmbedding = async (text) => (await this.getTextEmbeddings([text]))[0];
  getQueryEmbedding = ({ text }) => this.embedQuery(text);
}

/** @returns a function that returns, for an embedder and the vectors of the texts, a search that returns the places of texts, best first */
export function openIndex(texts) {
  return async (embedder) => {
    Settings.embedModel = new KnownVectors(embedder);
    const nodes = texts.map((text, place) => new TextNode({ id_: String(place), text, metadata: {} }));
    const index = await VectorStoreIndex.init({ nodes, storageContext: await storageContextFromDefaults({}) });
    const retriever = index.asRetriever({ similarityTopK: depth });
    return async (query) => (await retriever.retrieve({ query })).map(({ node }) => Number(node.id_));
  };
}
