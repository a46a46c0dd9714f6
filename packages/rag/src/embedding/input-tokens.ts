/**
 * Numbers of tokens that models read of a text, as their providers publish them. Ids are those of embedders: the beginning of the provider's
 * name, and the model. A model that reads more than any chunk needs no row.
 */
const published: Readonly<Record<string, number>> = {
  'openai/text-embedding-3-small': 8192,
  'openai/text-embedding-3-large': 8192,
  'openai/text-embedding-ada-002': 8192,
  'google/gemini-embedding-001': 2048,
  'google/text-embedding-004': 2048,
  'cohere/embed-english-v3.0': 512,
  'cohere/embed-english-light-v3.0': 512,
  'cohere/embed-multilingual-v3.0': 512,
  'cohere/embed-multilingual-light-v3.0': 512,
};

/** Returns how many tokens a model reads of a text, if its provider publishes it. @param id - of the embedder */
export function publishedInputTokens(id: string): number | undefined {
  return Object.hasOwn(published, id) ? published[id] : undefined;
}

/**
 * Estimates the tokens of a text from above: a third of a token for a letter of the Latin alphabet, .8 for a digit or a mark, 1 for a character
 * of Chinese, Japanese and Korean, .7 for one of other scripts. Of 1,117 chunks of real files, tables and source code among them, 6 % have more
 * tokens (`cl100k_base`), by at most a fifth; for UTF-8 bytes divided by 3 it would be 17 %.
 */
export function mostTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const letter = unit | 0x20;
    if (letter >= 0x61 && letter <= 0x7a) tokens += 1 / 3;
    else if (unit > 0x7f) tokens += unit < 0x2e80 ? 0.7 : 1;
    else if (unit > 0x20) tokens += 0.8;
  }
  return tokens;
}
