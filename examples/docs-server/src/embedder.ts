import { createLexicalEmbedder, toEmbedder, type Embedder } from '@quiver/rag';

/** What turns text into vectors, and how to say so to a person. */
export interface ChosenEmbedder {
  embedder: Embedder;
  description: string;
  /** Vectors of different models must not meet in one index, so each has its own. */
  indexName: string;
}

/** OpenAI's model when there is a key for it; otherwise the embedder that needs no network. */
export function chooseEmbedder(): ChosenEmbedder {
  const openai = 'openai/text-embedding-3-small';
  if (process.env['OPENAI_API_KEY']) {
    const embedder = toEmbedder(openai);
    return { embedder, description: openai, indexName: indexNameOf(embedder) };
  }
  const embedder = createLexicalEmbedder();
  return {
    embedder,
    description: `lexical, offline: compares words and parts of words, not meaning (set OPENAI_API_KEY to use ${openai})`,
    indexName: indexNameOf(embedder),
  };
}

function indexNameOf({ id }: Embedder): string {
  return id.replaceAll(/[^a-z0-9]+/gi, '-');
}
