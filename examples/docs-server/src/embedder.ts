import { createLexicalEmbedder, toEmbedder, type Embedder } from '@quiver/rag';

/** The selected embedder and its description for the user. */
export interface ChosenEmbedder {
  embedder: Embedder;
  description: string;
  /** Index of this embedder. Vectors of different models are not comparable, so each model has a separate index. */
  indexName: string;
}

/** Returns OpenAI's model if `OPENAI_API_KEY` is set; otherwise the lexical embedder, which needs no network. */
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
