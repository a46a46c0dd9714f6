import MiniSearch from 'minisearch';

/** Returns a function that searches texts with the defaults of MiniSearch: `{ id, score }`, where `id` is the place of the text. */
export function createSearch(texts) {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(texts.map((text, id) => ({ id, text })));
  return (question, topK) => index.search(question).slice(0, topK);
}
