import { ModelRouterEmbeddingModel } from '@quiver/core/llm';
import { createLexicalEmbedder, toEmbedder, type Embedder } from '@quiver/rag';

/** What turns text into vectors, and how to say so to a person. */
export interface ChosenEmbedder {
  embedder: Embedder;
  description: string;
}

/** OpenAI's model when there is a key for it; otherwise the embedder that needs no network. */
export function chooseEmbedder(): ChosenEmbedder {
  if (process.env['OPENAI_API_KEY']) {
    const name = 'openai/text-embedding-3-small';
    return { embedder: toEmbedder(new ModelRouterEmbeddingModel(name)), description: name };
  }
  const embedder = createLexicalEmbedder();
  return {
    embedder,
    description: `lexical, offline: compares words and parts of words, not meaning (set OPENAI_API_KEY to use openai/text-embedding-3-small)`,
  };
}
